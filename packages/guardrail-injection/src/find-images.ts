/** An image in Markdown or HTML. Offsets in UTF-16 units. */
export interface FoundImage {
  readonly start: number
  readonly end: number
  /** Where it is fetched from. Nothing where a reference elsewhere in the text says it. */
  readonly addresses: readonly string[] | undefined
}

/** Characters of an image at most: one that is longer is not held back any more, and not found. */
const maxImageChars = 2048

/**
 * Finds the images of a text, and the index from which on it may still become one, in one pass: each
 * search for a closing mark begins where the last one ended.
 */
export function findImages(text: string): {
  readonly images: readonly FoundImage[]
  readonly pending: number
} {
  const images: FoundImage[] = []
  const brackets: { readonly start: number; readonly isImage: boolean }[] = []
  const next = { ')': nextOf(text, ')'), ']': nextOf(text, ']'), '>': nextOf(text, '>') }
  let pending = text.length
  const open = (start: number): void => {
    if (text.length - start <= maxImageChars) pending = Math.min(pending, start)
  }
  const close = (start: number, mark: keyof typeof next, from: number): number | undefined => {
    const end = next[mark](from)
    if (end === undefined) open(start)
    return end === undefined || end - start >= maxImageChars ? undefined : end
  }

  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '\\') at++
    else if (character === '[') {
      const isImage = text[at - 1] === '!'
      brackets.push({ start: isImage ? at - 1 : at, isImage })
    } else if (character === ']') {
      const { start, isImage } = brackets.pop() ?? { start: at, isImage: false }
      if (!isImage || at - start >= maxImageChars) continue
      const after = text[at + 1]
      if (after === undefined) open(start)
      else if (after === '(' || after === '[') {
        const end = close(start, after === '(' ? ')' : ']', at + 2)
        if (end === undefined) continue
        const addresses = after === '(' ? [text.slice(at + 2, end)] : undefined
        images.push({ start, end: end + 1, addresses })
        at = end
      } else if (!/\w/.test(text[start - 1] ?? '')) {
        // `![name]` alone is an image too, but `vec![0]` is Rust.
        images.push({ start, end: at + 1, addresses: undefined })
      }
    } else if (character === '<') {
      const tag = text.slice(at, at + 4).toLowerCase()
      if (tag === '<img') {
        const end = close(at, '>', at)
        if (end !== undefined) {
          const addresses = text.slice(at, end).match(/(?:src|srcset) ?= ?["']?[^"'>]+/gi) ?? []
          images.push({ start: at, end: end + 1, addresses: addresses.map(afterEquals) })
        }
      } else if (at + tag.length === text.length && '<img'.startsWith(tag)) open(at)
    } else if (character === '!' && at === text.length - 1) open(at)
  }
  for (const { start, isImage } of brackets) if (isImage) open(start)
  return { images, pending }
}

const afterEquals = (attribute: string): string => attribute.replace(/^[^=]+= ?["']?/, '')

function nextOf(text: string, mark: string): (from: number) => number | undefined {
  let found = -1
  let isOver = false
  return (from) => {
    if (!isOver && found < from) {
      found = text.indexOf(mark, from)
      isOver = found < 0
    }
    return isOver ? undefined : found
  }
}

import { findTags } from './find-tags.ts'
import type { FoundImage, FoundImages } from './found-image.ts'
import { maxChars } from './found-image.ts'

/**
 * Finds everything that a browser fetches by itself when it shows a text as Markdown, as HTML, or
 * both.
 */
export function findImages(text: string): FoundImages & {
  /** Index from which on a tag is not closed. */
  readonly openTag: number
} {
  if (!anyMark.test(text)) return { images: [], pending: text.length, openTag: text.length }
  const markdown = findMarkdownImages(text)
  const { images, pending: openTag, covers } = findTags(text)
  // What is removed from inside a tag may have closed it, so the tag goes, too.
  const outward = (index: number): number => {
    let [low, high] = [0, covers.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (covers[middle]!.end > index) high = middle
      else low = middle + 1
    }
    return Math.min(index, covers[low]?.start ?? index)
  }
  const all = [...markdown.images, ...images].map((image) => ({
    ...image,
    start: outward(image.start),
  }))
  all.sort((one, other) => one.start - other.start)
  return { images: joined(all), pending: outward(Math.min(markdown.pending, openTag)), openTag }
}

/** All that an image or a tag can begin with. */
const anyMark = /[[\]!<]/

/** Joins places that overlap. */
function joined(images: readonly FoundImage[]): readonly FoundImage[] {
  const places: FoundImage[] = []
  for (const image of images) {
    const last = places.at(-1)
    if (last === undefined || image.start >= last.end) {
      places.push(image)
      continue
    }
    const addresses = last.addresses && image.addresses && [...last.addresses, ...image.addresses]
    places[places.length - 1] = {
      start: last.start,
      end: Math.max(last.end, image.end),
      addresses,
    }
  }
  return places
}

/**
 * Finds more than any renderer shows: images in code too, and those whose text has code or tags, about whose
 * end renderers disagree. Each search for a closing mark begins where the last one ended.
 */
function findMarkdownImages(text: string): FoundImages {
  const images: FoundImage[] = []
  const brackets: Bracket[] = []
  const next = { ')': nextOf(text, ')'), ']': nextOf(text, ']'), '\n': nextOf(text, '\n') }
  let pending = text.length
  const broken = (start: number) => ({ start, end: start + 2, addresses: undefined })
  /** Notes an image that is not closed. */
  const open = (start: number): void => {
    if (text.length - start <= maxChars) pending = Math.min(pending, start)
    else images.push(broken(start))
  }
  const close = (start: number, mark: keyof typeof next, from: number): number | undefined => {
    const end = next[mark](from)
    if (end === undefined) open(start)
    else if (end - start < maxChars) return end
    else images.push(broken(start))
    return undefined
  }

  for (let at = nextMark(text, 0); at < text.length; at = nextMark(text, at + 1)) {
    const character = text[at]
    // What follows an escaped `!` may be an image where code ends elsewhere than it seems.
    if (character === '\\') at += text[at + 1] === '!' ? 0 : 1
    else if (character === '[') {
      const isImage = text[at - 1] === '!'
      const outer = brackets.at(-1)
      if (outer !== undefined) outer.mayDefine = false
      const start = isImage ? at - 1 : at
      brackets.push({ start, isImage, mayDefine: !isImage && beginsLine(text, at) })
    } else if (character === '!') {
      if (at === text.length - 1) open(at)
    } else {
      const bracket = brackets.pop()
      if (bracket === undefined) continue
      const { start, isImage, mayDefine } = bracket
      if (at - start >= maxChars) {
        if (isImage) images.push(broken(start))
        continue
      }
      const after = text[at + 1]
      const label = text.slice(start + (isImage ? 2 : 1), at)
      if (!isImage) {
        // The definition of such a label would make an image of what was taken for code.
        if (!mayDefine || !codeLike.test(label) || (after !== ':' && after !== undefined)) continue
        const end = after === undefined ? undefined : next['\n'](at)
        if (after === undefined || end === undefined) open(start)
        else images.push({ start, end, addresses: [text.slice(at + 2, end)] })
      } else if (after === undefined) open(start)
      else if (after === '(' || after === '[') {
        const end = close(start, after === '(' ? ')' : ']', at + 2)
        if (end === undefined) continue
        const isPlain = after === '(' && !/[`<]/.test(label)
        images.push({
          start,
          end: end + 1,
          addresses: isPlain ? [text.slice(at + 2, end)] : undefined,
        })
        if (isPlain) at = end
      } else if (!/\w/.test(text[start - 1] ?? '') || !codeLike.test(label)) {
        // `![name]` alone is an image too, but `vec![1, 2]` is Rust.
        images.push({ start, end: at + 1, addresses: undefined })
      }
    }
  }
  for (const { start, isImage, mayDefine } of brackets) if (isImage || mayDefine) open(start)
  return { images, pending }
}

/** Opening bracket that waits for its closing one. */
interface Bracket {
  readonly start: number
  readonly isImage: boolean
  /** True while it may begin the definition of a label. */
  mayDefine: boolean
}

/** Returns true if only blanks and the marks of quotes and lists precede an index within its line. */
function beginsLine(text: string, index: number): boolean {
  let at = index - 1
  while (at >= 0 && lineMark.test(text[at]!)) at--
  return at < 0 || text[at] === '\n' || text[at] === '\r'
}

const lineMark = /[ \t>*+\-\d.)]/

/** Texts in brackets that no name of an image looks like. */
const codeLike = /^$|[,;(){}=&*"|]/

const marks = /[\\[\]!]/g

function nextMark(text: string, from: number): number {
  marks.lastIndex = from
  return marks.test(text) ? marks.lastIndex - 1 : text.length
}

/** Makes a search for a mark that never looks at a character twice. */
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

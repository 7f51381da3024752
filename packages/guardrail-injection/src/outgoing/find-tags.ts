import type { FoundImage, FoundImages } from './found-image.ts'
import { maxChars } from './found-image.ts'

/** Stretch of a text that one or several overlapping tags take up. */
export interface Cover {
  readonly start: number
  end: number
}

/** Elements that fetch or run something whatever their attributes are, or change what addresses mean. */
const always = new Set(
  'applet base embed frame frameset iframe link meta object portal script style template'.split(
    ' ',
  ),
)

/** Elements whose addresses are only followed when somebody clicks. */
const links = new Set('a area blockquote q del ins form button'.split(' '))

/** Attributes with which any element may fetch something. */
const fetching =
  /(?:^|[\s"'/])(?:style|background|poster|src|srcset|ping|data|xlink:href|fill|stroke|filter|mask|cursor|clip-path|marker(?:-\w+)?)\s*=/i

const entity = /&(?!(?:amp|quot|lt|gt|apos|nbsp);)(?:#|[a-z\d]+;)/i

/**
 * Finds the start tags that have a browser fetch something, with their addresses. Each `<` before a letter is
 * taken for a tag, wherever it stands: renderers disagree about where code, comments and tags end.
 */
export function findTags(text: string): FoundImages & { readonly covers: readonly Cover[] } {
  const images: FoundImage[] = []
  const covers: Cover[] = []
  let pending = text.length
  for (let start = text.indexOf('<'); start >= 0; start = text.indexOf('<', start + 1)) {
    if (start === text.length - 1) pending = Math.min(pending, start)
    if (!/[a-z]/i.test(text[start + 1] ?? '')) continue
    const limited = text.slice(start, start + maxChars)
    const end = tagEnd(limited)
    const name = /^<[^\s/>]+/.exec(limited)![0]
    if (end === undefined && limited.length < maxChars) {
      pending = Math.min(pending, start)
      continue
    }
    const found = { start, end: start + (end ?? name.length) }
    const cover = covers.at(-1)
    if (cover === undefined || cover.end <= start) covers.push({ ...found })
    else cover.end = Math.max(cover.end, found.end)
    if (end === undefined || always.has(name.slice(1).toLowerCase())) {
      images.push({ ...found, addresses: undefined })
      continue
    }
    const addresses = addressesOf(name.slice(1).toLowerCase(), limited.slice(name.length, end - 1))
    if (addresses === undefined || addresses.length > 0) images.push({ ...found, addresses })
  }
  return { images, pending, covers }
}

/** Returns the index behind a start tag, read as the HTML standard reads attributes. */
function tagEnd(text: string): number | undefined {
  const step = /[>=]/g
  for (let found = step.exec(text); found !== null; found = step.exec(text)) {
    if (found[0] === '>') return step.lastIndex
    const quote = /^[\t\n\f\r ]*(["'])/.exec(text.slice(step.lastIndex, step.lastIndex + 64))
    if (quote === null) continue
    const close = text.indexOf(quote[1]!, step.lastIndex + quote[0].length)
    if (close < 0) return undefined
    step.lastIndex = close + 1
  }
  return undefined
}

/** Returns the addresses in the attributes of a tag, or nothing where they may be hidden. */
function addressesOf(name: string, attributes: string): readonly string[] | undefined {
  // Browsers take these out of addresses.
  const text = attributes.replace(/[\t\n\r]/g, '').replaceAll('&amp;', '&')
  if (!knownToFetch.has(name) && !fetching.test(attributes) && !/url\(/i.test(text)) return []
  if (links.has(name) && !fetching.test(attributes) && !/url\(/i.test(text)) return []
  if (text.includes('\\') || entity.test(text)) return undefined
  const outside = text.replace(/[\s"'/]src ?= ?["']?data:image\/[^\s"'>]*/gi, '')
  return outside.match(/(?:https?|ftp|wss?):[^\s"'>)]*|\/\/[^\s"'>)]*/gi) ?? []
}

const knownToFetch = new Set(
  'img image input video audio source track svg use feimage body table thead tbody tr td th'.split(
    ' ',
  ),
)

import type { FoundImage, FoundImages } from './found-image.ts'
import { maxChars } from './found-image.ts'

/** Range of one tag or several overlapping tags. */
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
 * Finds the start tags that make a browser fetch something, with their addresses. Each `<` before a
 * letter counts as a tag everywhere, because renderers disagree about the end of code, comments and
 * tags.
 */
export function findTags(text: string): FoundImages & { readonly covers: readonly Cover[] } {
  const images: FoundImage[] = []
  const covers: Cover[] = []
  let pending = text.length
  let ends: Int32Array | undefined
  for (let start = text.indexOf('<'); start >= 0; start = text.indexOf('<', start + 1)) {
    if (start === text.length - 1) pending = Math.min(pending, start)
    if (!/[a-z]/i.test(text[start + 1] ?? '')) continue
    ends ??= tagEnds(text)
    const length = ends[start + 1]! - start
    const limited = text.slice(start, start + maxChars)
    const end = length > 0 && length <= maxChars ? length : undefined
    const name = /^<[^\s/>]{1,99}/.exec(limited)![0]
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
    // The attributes of a tag that this one is inside of are known to have its addresses.
    if (images.at(-1)?.end === found.end) continue
    const addresses = addressesOf(name.slice(1).toLowerCase(), limited.slice(name.length, end - 1))
    if (addresses === undefined || addresses.length > 0) images.push({ ...found, addresses })
  }
  return { images, pending, covers }
}

/**
 * Returns for each index of a text where a tag ends that continues there, outside of quotes: the index behind it,
 * or 0. Attributes are read as in the HTML standard. One pass from the end serves all tags, however they overlap.
 */
function tagEnds(text: string): Int32Array {
  const ends = new Int32Array(text.length + 1)
  /** For each quotation mark, the index of the next one of its kind, or 0. */
  const closing = new Int32Array(text.length)
  let [nextDouble, nextSingle] = [0, 0]
  /** Index of the next character that is not blank. */
  let solid = text.length
  for (let at = text.length - 1; at >= 0; at--) {
    let end = ends[at + 1]!
    switch (text.charCodeAt(at)) {
      case 0x3e: // >
        end = at + 1
        break
      case 0x22: // "
        closing[at] = nextDouble
        nextDouble = at
        break
      case 0x27: // '
        closing[at] = nextSingle
        nextSingle = at
        break
      case 0x3d: // =
        if (solid - at <= 64 && (text[solid] === '"' || text[solid] === "'")) {
          end = closing[solid] === 0 ? 0 : ends[closing[solid]! + 1]!
        }
        break
      case 0x09: // Blanks of the HTML standard.
      case 0x0a:
      case 0x0c:
      case 0x0d:
      case 0x20:
        ends[at] = end
        continue
    }
    ends[at] = end
    solid = at
  }
  return ends
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

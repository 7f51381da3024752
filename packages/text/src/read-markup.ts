import type { NormalizedText, PlacedText } from './normalize-text.ts'
import { textWithPlaces } from './normalize-text.ts'

const names: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  colon: ':',
  comma: ',',
  commat: '@',
  dash: '-',
  equals: '=',
  gt: '>',
  hyphen: '-',
  lowbar: '_',
  lpar: '(',
  lt: '<',
  nbsp: '\u00a0',
  num: '#',
  period: '.',
  plus: '+',
  quot: '"',
  rpar: ')',
  shy: '\u00ad',
  sol: '/',
  tab: '\t',
  zwj: '\u200d',
  zwnj: '\u200c',
}

// Kept are tags between which a reader sees a gap, and tags of what is no text.
const markup =
  /&(?:#(?:x0{0,24}[\da-f]{1,6}|0{0,24}\d{1,7});?|[a-z]{2,6};)|<!--(?:[^<-]|-(?!->)|<(?!!--)){0,1000}-->|<\/?(?!(?:address|article|aside|audio|blockquote|body|br|button|canvas|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|embed|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|img|input|legend|li|main|menu|meta|nav|noscript|object|ol|optgroup|option|p|pre|script|section|select|style|summary|svg|table|tbody|td|template|textarea|tfoot|th|thead|title|tr|ul|video)\b)[a-z][^<>&\\]{0,1000}>/gi
const open =
  /(?:&(?:#(?:x[\da-f]{0,30}|\d{0,31})|[a-z]{0,6})?|<(?:\/?(?:[a-z][^<>&\\]{0,1000})?|!-?)|<!--(?:[^<-]|-(?!->)|<(?!!--)){0,1000})$/i
const maxLevels = 4

/**
 * Reads a text as a browser shows it: HTML entities are decoded, also if they are encoded again, and comments and
 * tags within a line, such as `<b>`, are dropped. Returns `undefined` if that changes nothing. Tags and comments of
 * more than 1,000 characters are kept. A text that is not `final` is read up to markup that more text may complete.
 * Takes time linear in the length of the text.
 */
export function readMarkup(text: string, final = true): NormalizedText | undefined {
  let read: Placed = { text, end: text.length }
  for (let level = 0; level < maxLevels && /[&<]/.test(read.text); level++) {
    const next = decoded(final ? read : cut(read))
    const isSame = next.text === read.text
    read = next
    if (isSame) break
  }
  return read.text === text ? undefined : textWithPlaces(read, read.end)
}

interface Placed extends PlacedText {
  /** Index behind the text in the original. */
  readonly end: number
}

/** Leaves out what may be the beginning of markup. */
function cut(given: Placed): Placed {
  const at = given.text.search(open)
  return at < 0 ? given : { ...given, text: given.text.slice(0, at), end: given.starts?.[at] ?? at }
}

/** Decodes one level. */
function decoded(given: Placed): Placed {
  const { text, end } = given
  let made = ''
  let done = 0
  const starts: number[] = []
  const ends: number[] = []
  const startOf = (at: number): number => given.starts?.[at] ?? at
  const endOf = (at: number): number => given.ends?.[at] ?? at + 1
  const keepUpTo = (index: number): void => {
    made += text.slice(done, index)
    for (; done < index; done++) {
      starts.push(startOf(done))
      ends.push(endOf(done))
    }
  }
  for (const { 0: found, index } of text.matchAll(markup)) {
    keepUpTo(index)
    done = index + found.length
    const read = found.startsWith('&') ? characterOf(found) : ''
    // A browser shows one of the blanks before and behind a tag.
    if (read === '' && isBlank(made, made.length - 1)) while (isBlank(text, done)) done++
    made += read
    for (let unit = 0; unit < read.length; unit++) {
      starts.push(startOf(index))
      ends.push(endOf(done - 1))
    }
  }
  if (done === 0) return given
  keepUpTo(text.length)
  return { text: made, end, starts, ends }
}

const isBlank = (text: string, at: number): boolean => /[ \t\n\r\f]/.test(text.charAt(at))

function characterOf(sequence: string): string {
  const name = sequence.replace(/^&#?|;$/g, '').toLowerCase()
  if (!sequence.startsWith('&#')) return Object.hasOwn(names, name) ? names[name]! : sequence
  const code = Number(`0${name}`)
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : '\ufffd'
}

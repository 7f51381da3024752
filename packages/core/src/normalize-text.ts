import { homoglyphs, stylised } from './homoglyphs.ts'

export interface NormalizeTextOptions {
  /**
   * Reads letters of other scripts as the Latin ones they look like, in words that have Latin letters too.
   * @default true
   */
  readonly homoglyphs?: boolean | undefined
  /** Takes accents off letters. @default false */
  readonly stripDiacritics?: boolean | undefined
  /** @default false */
  readonly lowerCase?: boolean | undefined
  /** Reads `i g n o r e` and `i-g-n-o-r-e` as `ignore`, from three letters on. @default false */
  readonly joinSpacedLetters?: boolean | undefined
  /** Makes one space, or one line break, of white space in a row. @default false */
  readonly collapseWhitespace?: boolean | undefined
}

/** A text as a pattern should read it, with the way back to the text as it is. */
export interface NormalizedText {
  readonly text: string
  /** The index in the original of what stands at an index of `text`. */
  readonly toOriginal: (index: number) => number
  /** The stretch of the original that a stretch of `text` was made of. */
  readonly toOriginalSpan: (
    start: number,
    end: number,
  ) => { readonly start: number; readonly end: number }
}

/**
 * Undoes what hides words from a pattern: compatibility forms (NFKC), zero-width, bidi and control
 * characters, text in tag characters, look-alike letters. For matching only: never send it on.
 * Takes time linear in the length of the text.
 */
export function normalizeText(text: string, options: NormalizeTextOptions = {}): NormalizedText {
  const tape = plainAscii.test(text) ? { text: plain(text, options) } : readableTape(text, options)
  if (options.homoglyphs ?? true) tape.text = foldHomoglyphs(tape.text)
  if (options.joinSpacedLetters) thin(tape, spacedLetters, joined)
  if (options.collapseWhitespace) {
    tape.text = tape.text.replace(/[^\S\n]/g, ' ')
    thin(tape, whitespaceRun, allButOne)
  }
  const { text: made, starts, ends } = tape
  const startOf = (index: number): number =>
    index < made.length ? (starts?.[index] ?? index) : text.length
  return {
    text: made,
    toOriginal: startOf,
    toOriginalSpan: (start, end) => ({
      start: startOf(start),
      end: end > start ? (ends?.[end - 1] ?? end) : startOf(start),
    }),
  }
}

/** Text in the making. Without `starts` and `ends` each character stands where it stood. */
interface Tape {
  text: string
  starts?: number[]
  ends?: number[]
}

const plainAscii = /^[\t\n\v\f\r\x20-\x7e]*$/

// Plain characters in a row, or one character with its marks; no more marks than UAX #15 allows in
// stream-safe text, since sorting a longer run would take more than linear time.
const cluster = /[\t\n\x20-\x7e]+(?=[\t\n\x20-\x7e]|$)|[^][\p{M}\u1160-\u11ff]{0,30}/gu
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu
const whitespace = /[^\S\ufeff]|\x85/u
const accents = /[\u0300-\u036f]+/g

function readableTape(text: string, options: NormalizeTextOptions): Tape {
  const tape = { text: '', starts: [] as number[], ends: [] as number[] }
  const known = new Map<string, string>()
  let inFlag = false
  for (const { 0: original, index } of text.matchAll(cluster)) {
    const isRun = original.length > 1 && original.charCodeAt(0) < 0x7f && plainAscii.test(original)
    let piece = isRun ? plain(original, options) : known.get(original)
    if (piece === undefined) known.set(original, (piece = readable(original, options)))
    // Tags after a black flag spell a region: that is an emoji, and not a hidden text.
    inFlag = original.startsWith('\u{1f3f4}') || (inFlag && isTag(original.codePointAt(0)!))
    if (inFlag && piece !== original) piece = ''
    tape.text += piece
    for (let unit = 0; unit < piece.length; unit++) {
      tape.starts.push(isRun ? index + unit : index)
      tape.ends.push(isRun ? index + unit + 1 : index + original.length)
    }
  }
  return tape
}

const plain = (text: string, { lowerCase }: NormalizeTextOptions): string =>
  lowerCase ? text.toLowerCase() : text

const isTag = (code: number): boolean => code >= 0xe0000 && code <= 0xe007f

function readable(original: string, options: NormalizeTextOptions): string {
  const code = original.codePointAt(0)!
  if (isTag(code)) {
    const hidden = code >= 0xe0020 && code < 0xe007f ? String.fromCharCode(code & 0x7f) : ''
    return plain(hidden, options)
  }
  if (whitespace.test(original)) return original.normalize('NFKC')
  // Some characters are made of others with invisible ones among them.
  const visible = original.replace(invisible, '')
  const compatible = visible.normalize('NFKC').replace(invisible, '')
  // One Arabic ligature is a sentence of eighteen letters.
  const seen = compatible.length > 4 * visible.length ? visible : compatible
  const letters = stylised.get(seen) ?? seen
  const bare = options.stripDiacritics
    ? letters.normalize('NFD').replace(accents, '').normalize('NFC')
    : letters
  return plain(bare, options)
}

const word = /[\p{L}\p{N}\p{M}]+/gu
const latin = /[A-Za-z]/
const notAscii = /[\u0080-\uffff]/g

/** Changes no length, so that what the tape knows of each character still holds. */
function foldHomoglyphs(text: string): string {
  if (plainAscii.test(text)) return text
  return text.replace(word, (letters) =>
    latin.test(letters)
      ? letters.replace(notAscii, (letter) => homoglyphs.get(letter) ?? letter)
      : letters,
  )
}

// One letter, one separator, always the same, and so on.
const spacedLetters = /(?<![\p{L}\p{N}])\p{L}([ .,*|/_-])\p{L}(?:\1\p{L})+(?![\p{L}\p{N}])/gu
const whitespaceRun = /\s{2,}/g

const joined = (match: string): number[] => {
  const separator = match.charAt(match.codePointAt(0)! > 0xffff ? 2 : 1)
  return indices(match).filter((at) => match[at] !== separator)
}

const allButOne = (match: string): number[] => [Math.max(0, match.indexOf('\n'))]

const indices = (text: string): number[] => Array.from(text, (_, at) => at)

/** Keeps, of each match, the characters at the indices that `kept` gives. */
function thin(tape: Tape, pattern: RegExp, kept: (match: string) => number[]): void {
  const { text, starts, ends } = tape
  const made: Required<Tape> = { text: '', starts: [], ends: [] }
  const take = (from: number, to: number) => {
    made.text += text.slice(from, to)
    for (let at = from; at < to; at++) {
      made.starts.push(starts?.[at] ?? at)
      made.ends.push(ends?.[at] ?? at + 1)
    }
  }
  let done = 0
  for (const { 0: match, index } of text.matchAll(pattern)) {
    take(done, index)
    for (const at of kept(match)) take(index + at, index + at + 1)
    done = index + match.length
  }
  if (done === 0) return
  take(done, text.length)
  Object.assign(tape, made)
}

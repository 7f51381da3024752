import { homoglyphs, stylised } from './homoglyphs.ts'

/** Options of `normalizeText`. */
export interface NormalizeTextOptions {
  /**
   * Reads letters of other scripts as the Latin ones they look like, in words that have Latin letters too.
   * @default true
   */
  readonly homoglyphs?: boolean | undefined
  /** Removes accents and strokes (`đ`, `ł`, `ø`, `ı`) from letters. @default false */
  readonly stripDiacritics?: boolean | undefined
  /** Converts letters to lower case. @default false */
  readonly lowerCase?: boolean | undefined
  /** Reads `i g n o r e` and `i-g-n-o-r-e` as `ignore`, from three letters on. @default false */
  readonly joinSpacedLetters?: boolean | undefined
  /** Reduces consecutive white space to one space or one line break. @default false */
  readonly collapseWhitespace?: boolean | undefined
}

/** Text normalized for pattern matching, with a mapping back to the original. */
export interface NormalizedText {
  /** The normalized text. */
  readonly text: string
  /** Maps an index of `text` to the index in the original. */
  readonly toOriginal: (index: number) => number
  /** Maps a range of `text` to the range in the original. */
  readonly toOriginalSpan: (
    start: number,
    end: number,
  ) => {
    /** Start index in the original. */
    readonly start: number
    /** End index in the original, exclusive. */
    readonly end: number
  }
}

/**
 * Normalizes text that hides words from a pattern: compatibility forms (NFKC), zero-width, bidi and
 * control characters, text in tag characters, look-alike letters. For matching only: do not send it
 * to a model or a user. Takes time linear in the length of the text.
 * @example
 * ```ts
 * import { normalizeText } from '@lamella/text'
 *
 * console.log(normalizeText('Ｉgn\u200bore all').text) // Ignore all
 * ```
 */
export function normalizeText(text: string, options: NormalizeTextOptions = {}): NormalizedText {
  const isPlain = plainAscii.test(text)
  const tape: Tape = isPlain ? { text: plain(text, options) } : readableTape(text, options)
  if (!isPlain && (options.homoglyphs ?? true)) tape.text = foldHomoglyphs(tape.text)
  if (options.joinSpacedLetters) thin(tape, spacedLetters, joined)
  if (options.collapseWhitespace && unevenWhitespace.test(tape.text)) {
    tape.text = tape.text.replace(/[^\S\n]/g, ' ')
    thin(tape, whitespaceRun, oneOfThem)
  }
  return textWithPlaces(tape, text.length)
}

/** Makes the result of a reading. `end` is the index in the original behind what was read. */
export function textWithPlaces({ text, starts, ends }: PlacedText, end: number): NormalizedText {
  const startOf = (index: number): number =>
    index < text.length ? (starts?.[index] ?? index) : end
  return {
    text,
    toOriginal: startOf,
    toOriginalSpan: (from, to) => ({
      start: startOf(from),
      end: to > from ? (ends?.[to - 1] ?? to) : startOf(from),
    }),
  }
}

/** Text with the places of its characters in the original. Without them, each stands where it stood. */
export interface PlacedText {
  readonly text: string
  readonly starts?: ArrayLike<number>
  readonly ends?: ArrayLike<number>
}

/** Text in the making. Without `starts` and `ends` each character stands where it stood. */
interface Tape {
  text: string
  starts?: Uint32Array
  ends?: Uint32Array
}

const plainAscii = /^[\t\n\v\f\r\x20-\x7e]*$/

// The last character may have marks on it.
const plainRun = /[\t\n\x20-\x7e]+(?=[\t\n\x20-\x7e]|$)/y

const mark = /[\p{M}\u1160-\u11ff]/u

// As UAX #15 allows in stream-safe text: sorting a longer run would take more than linear time.
const maxMarks = 30
const maxGrowth = 4

function readableTape(text: string, options: NormalizeTextOptions): Tape {
  const starts = new Uint32Array(maxGrowth * text.length)
  const ends = new Uint32Array(maxGrowth * text.length)
  const pieces: string[] = []
  const read = cached((original) => readable(original, options))
  const isMark = cached((character) => mark.test(character))
  const most = mark.test(text) ? maxMarks : 0
  let made = 0
  let inFlag = false
  for (let at = 0, end = 0; at < text.length; at = end) {
    const code = text.codePointAt(at)!
    plainRun.lastIndex = at
    if (plainRun.test(text)) {
      end = plainRun.lastIndex
      pieces.push(plain(text.slice(at, end), options))
      while (at < end) {
        starts[made] = at++
        ends[made++] = at
      }
      continue
    }
    end = after(text, at)
    for (let marks = 0; marks < most && text.charCodeAt(end) >= 0x300; marks++) {
      const next = after(text, end)
      if (!isMark(text.slice(end, next))) break
      end = next
    }
    // Tags after a black flag spell a region: that is an emoji, and not a hidden text.
    inFlag = code === 0x1f3f4 || (inFlag && isTag(code))
    const piece = inFlag && isTag(code) ? '' : read(text.slice(at, end))
    pieces.push(piece)
    for (let unit = 0; unit < piece.length; unit++) {
      starts[made] = at
      ends[made++] = end
    }
  }
  return { text: pieces.join(''), starts, ends }
}

/** The index after the character that begins at an index. */
const after = (text: string, at: number): number => at + (text.codePointAt(at)! > 0xffff ? 2 : 1)

function cached<T>(compute: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>()
  return (key) => {
    let value = known.get(key)
    if (value === undefined) known.set(key, (value = compute(key)))
    return value
  }
}

const plain = (text: string, { lowerCase }: NormalizeTextOptions): string =>
  lowerCase ? text.toLowerCase() : text

const isTag = (code: number): boolean => code >= 0xe0020 && code < 0xe007f

const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu
const whitespace = /[^\S\ufeff]|\x85/u
const accents = /[\u0300-\u036f]+/g
// Unicode takes these for letters of their own.
const strokes: Readonly<Record<string, string>> = {
  đ: 'd',
  Đ: 'D',
  ł: 'l',
  Ł: 'L',
  ø: 'o',
  Ø: 'O',
  ı: 'i',
}
const stroked = /[đĐłŁøØı]/g
const withoutStroke = (letter: string): string => strokes[letter]!

/** Returns the readable form of a character and its marks. */
function readable(original: string, options: NormalizeTextOptions): string {
  const code = original.codePointAt(0)!
  if (isTag(code)) return plain(String.fromCharCode(code & 0x7f), options)
  if (whitespace.test(original)) return original.normalize('NFKC')
  // Some characters are made of others with invisible ones among them.
  const visible = original.replace(invisible, '')
  const compatible = visible.normalize('NFKC').replace(invisible, '')
  const letters = stylised.get(compatible) ?? compatible
  const bare = options.stripDiacritics
    ? letters.normalize('NFD').replace(accents, '').replace(stroked, withoutStroke).normalize('NFC')
    : letters
  // One Arabic ligature is a sentence of eighteen letters.
  return plain(bare.length > maxGrowth * visible.length ? visible : bare, options)
}

const word = /[\p{L}\p{N}\p{M}]+/gu
const latin = /[A-Za-z]/
const notAscii = /[\u0080-\uffff]/g

/** Changes no length, so that what the tape knows of each character still holds. */
function foldHomoglyphs(text: string): string {
  return text.replace(word, (letters) =>
    latin.test(letters)
      ? letters.replace(notAscii, (letter) => homoglyphs.get(letter) ?? letter)
      : letters,
  )
}

// One letter, one separator, always the same, and so on.
const spacedLetters = /(?<![\p{L}\p{N}])\p{L}([ .,*|/_-])\p{L}(?:\1\p{L})+(?![\p{L}\p{N}])/gu

const whitespaceRun = /\s{2,}/g
const unevenWhitespace = /[^\S\n ]|\s\s/

/** Each second character: what is no letter stands between two. */
function joined(match: string): number[] {
  const kept: number[] = []
  for (let at = 0; at < match.length; at = after(match, at) + 1) {
    kept.push(at)
    if (after(match, at) > at + 1) kept.push(at + 1)
  }
  return kept
}

const oneOfThem = (match: string): number[] => [Math.max(0, match.indexOf('\n'))]

/** Keeps, of each match, the characters at the indices that `kept` gives. */
function thin(tape: Tape, pattern: RegExp, kept: (match: string) => number[]): void {
  const { text } = tape
  const matches = [...text.matchAll(pattern)]
  if (matches.length === 0) return
  tape.starts ??= Uint32Array.from({ length: text.length }, (_, at) => at)
  tape.ends ??= tape.starts.map((at) => at + 1)
  const pieces: string[] = []
  let done = 0
  let made = 0
  const take = (from: number, to: number): void => {
    pieces.push(text.slice(from, to))
    tape.starts!.copyWithin(made, from, to)
    tape.ends!.copyWithin(made, from, to)
    made += to - from
  }
  for (const { 0: match, index } of matches) {
    take(done, index)
    for (const at of kept(match)) take(index + at, index + at + 1)
    done = index + match.length
  }
  take(done, text.length)
  tape.text = pieces.join('')
}

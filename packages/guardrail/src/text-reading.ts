import type { TextEdit } from './verdict.ts'

/** Text with the place of each character in the original. */
export interface PlacedText {
  readonly text: string
  /** Position of the first character. The others follow it, unless `starts` and `ends` say otherwise. */
  readonly at: number
  readonly starts?: readonly number[] | undefined
  readonly ends?: readonly number[] | undefined
}

/** A complete text as a reader sees it. */
export interface TextReading {
  readonly text: string
  /** Converts an edit of the reading to edits of the original, one for each JSON value. */
  readonly toOriginal: (edit: TextEdit) => readonly TextEdit[]
}

/** Maximum number of decodings: each level of JSON within a JSON string needs one more. */
export const maxEscapeDepth = 8

const escape = /\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/g
const openEscape = /\\(?:u[\da-fA-F]{0,3})?$/
const controls: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/** Moves an index that may split a surrogate pair before the pair. */
export function beforePair(text: string, index: number): number {
  const code = text.charCodeAt(index - 1)
  return code >= 0xd800 && code < 0xdc00 ? index - 1 : index
}

/** Returns the position of a character. */
export function startIn({ at, starts }: PlacedText, index: number): number {
  return starts?.[index] ?? at + index
}

/** Returns the position behind a character. */
export function endIn({ at, ends }: PlacedText, index: number): number {
  return ends?.[index] ?? at + index + 1
}

/** Decodes the JSON escapes (RFC 8259, section 7) of a text once. */
export function decodeEscapes(given: PlacedText): PlacedText {
  const { text, at } = given
  if (!text.includes('\\')) return given
  let decoded = ''
  const starts: number[] = []
  const ends: number[] = []
  let done = 0
  const keepUpTo = (end: number): void => {
    decoded += text.slice(done, end)
    for (; done < end; done++) {
      starts.push(startIn(given, done))
      ends.push(endIn(given, done))
    }
  }
  for (const { 0: sequence, index } of text.matchAll(escape)) {
    keepUpTo(index)
    const sign = sequence[1]!
    decoded +=
      sign === 'u'
        ? String.fromCharCode(Number.parseInt(sequence.slice(2), 16))
        : (controls[sign] ?? sign)
    starts.push(startIn(given, index))
    done = index + sequence.length
    ends.push(endIn(given, done - 1))
  }
  keepUpTo(text.length)
  return { text: decoded, at, starts, ends }
}

/** Returns the index from which a text may be the beginning of an escape, or its length. */
export function openEscapeFrom(text: string): number {
  const open = openEscape.exec(text.slice(-5))
  if (open === null) return text.length
  const at = text.length - open[0].length
  // An even number of backslashes before it are escaped backslashes; an odd number escapes it.
  let before = 0
  while (text[at - 1 - before] === '\\') before++
  return before % 2 === 0 ? at : text.length
}

/** Moves a position inside an escape to the start or the end of the escape. */
export function outsideEscape(
  { starts, ends }: Pick<PlacedText, 'starts' | 'ends'>,
  position: number,
  isEnd: boolean,
): number {
  if (starts === undefined || ends === undefined) return position
  const index = endingUpTo(ends, position)
  const start = starts[index]
  if (start === undefined || start >= position) return position
  return isEnd ? ends[index]! : start
}

/** Returns the number of characters that end at a position or before it. */
export function endingUpTo(ends: readonly number[], position: number): number {
  let [low, high] = [0, ends.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]! <= position) low = middle + 1
    else high = middle
  }
  return low
}

interface Read {
  readonly of: string
  readonly readings: readonly TextReading[]
}

/** Readings of the text of contents, if they took time. */
const readIn = new WeakMap<object, Read>()

/**
 * Returns the readings of a complete text: unchanged, and with its JSON escapes decoded once, twice and so
 * on. JSON and JSON lines are read as lines of `name: value` instead of unchanged. The text of the same
 * contents is read once for all guardrails.
 */
export function readingsOf(text: string, contents?: object): readonly TextReading[] {
  const known = contents && readIn.get(contents)
  if (known?.of === text) return known.readings
  const json = readJson(text)
  const decoded: PlacedText[] = []
  for (let read: PlacedText = { text: json?.text ?? text, at: 0 }; ; ) {
    const next = decodeEscapes(read)
    if (next.text === read.text || decoded.push(next) === maxEscapeDepth) break
    read = next
  }
  const first = json ?? { text, toOriginal: (edit: TextEdit) => [withWholeEscapes(edit, decoded)] }
  const deeper = decoded.map(
    (placed): TextReading => ({
      text: placed.text,
      toOriginal: (edit) => {
        const start = startIn(placed, edit.start)
        return first.toOriginal({ ...edit, start, end: endIn(placed, edit.end - 1) })
      },
    }),
  )
  const readings = [first, ...deeper]
  if (contents && (json || deeper.length > 0)) readIn.set(contents, { of: text, readings })
  return readings
}

/** Extends an edit so that it contains whole escapes. */
function withWholeEscapes(edit: TextEdit, decoded: readonly PlacedText[]): TextEdit {
  let { start, end } = edit
  for (const placed of decoded) {
    start = outsideEscape(placed, start, false)
    end = outsideEscape(placed, end, true)
  }
  return { ...edit, start, end }
}

// The end of the text may replace a closing quote: the match then never fails, and never backtracks.
const scalar = /"(?:[^"\\]|\\[^]?)*(?:"|$)|-?\d[\d.eE+-]*/g

interface JsonScalar {
  readonly value: PlacedText
  /** Index in the reading. */
  readonly from: number
  readonly isKey: boolean
  readonly isNumber: boolean
}

/** Reads a JSON object or list. Returns `undefined` for any other text. */
function readJson(json: string): TextReading | undefined {
  if (!/^\s*[{[]/.test(json) || !isJson(json)) return undefined
  const scalars: JsonScalar[] = []
  let text = ''
  for (const { index, 0: literal } of json.matchAll(scalar)) {
    const isNumber = !literal.startsWith('"')
    const value = isNumber
      ? { text: literal, at: index }
      : decodeEscapes({ text: literal.slice(1, -1), at: index + 1 })
    const end = index + literal.length
    const isKey = !isNumber && /^\s*:/.test(json.slice(end, end + 9))
    scalars.push({ value, from: text.length, isKey, isNumber })
    text += value.text + (isKey ? ': ' : '\n')
  }
  return { text, toOriginal: (edit) => editsIn(scalars, edit) }
}

/** Splits an edit by JSON values. The first value gets the replacement; names of fields stay. */
function editsIn(scalars: readonly JsonScalar[], edit: TextEdit): readonly TextEdit[] {
  const { start, end, replacement } = edit
  const edits: TextEdit[] = []
  const first = lastUpTo(scalars, start)
  for (let at = first; at < scalars.length; at++) {
    const { value, from, isKey, isNumber } = scalars[at]!
    if (from >= end || (isKey && at > first)) break
    const [head, tail] = [Math.max(start - from, 0), Math.min(end - from, value.text.length)]
    if (head >= tail) continue
    const made = replacement && edits.length > 0 ? '' : replacement
    const json = made === undefined ? undefined : JSON.stringify(made)
    edits.push(
      isNumber
        ? { ...edit, start: value.at, end: value.at + value.text.length, replacement: json }
        : {
            ...edit,
            start: startIn(value, head),
            end: endIn(value, tail - 1),
            replacement: json?.slice(1, -1),
          },
    )
  }
  return edits
}

function isJson(text: string): boolean {
  if (parses(text)) return true
  // JSON lines (jsonlines.org).
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.every((line) => /^\s*[{[]/.test(line) && parses(line))
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns the index of the last scalar that begins at an index of the reading or before it. */
function lastUpTo(scalars: readonly JsonScalar[], index: number): number {
  let [low, high] = [0, scalars.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (scalars[middle]!.from <= index) low = middle
    else high = middle - 1
  }
  return low
}

import type { PlacedText } from './text-reading.ts'
import {
  decodeEscapes,
  endIn,
  endingUpTo,
  openEscapeFrom,
  outsideEscape,
  startIn,
} from './text-reading.ts'

/**
 * One reading of a growing text, such as the text with its escapes decoded. Indexes refer to `text`;
 * positions count from the beginning of the original and are negative in the text before it.
 */
export class GrowingReading {
  text = ''
  /** Index at which edits may begin. Text before it is decided. */
  from = 0
  /** Position up to which it was scanned. */
  stop = 0
  /** Number of the next sentence to scan at. */
  sentence = 0
  /** Position behind the last escape. */
  lastEscape = -1
  readonly #decodes: boolean
  /** Position of the first character. */
  #base = 0
  #starts: number[] | undefined
  #ends: number[] | undefined
  /** Text that may be the beginning of an escape. */
  #open: PlacedText | undefined

  constructor(decodes: boolean, before = '') {
    this.#decodes = decodes
    this.text = before
    this.#base = -before.length
  }

  /** Position before which everything is decided. */
  get decided(): number {
    return this.#endOf(this.from)
  }

  /** True if the text ends within an escape. */
  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** True if all of `text` is decided. */
  get isDecided(): boolean {
    return this.from === this.text.length
  }

  /** Decodes more text, if this reading decodes. `take` then adds it. */
  read(more: PlacedText, isEnd: boolean): PlacedText {
    if (!this.#decodes) return more
    const joint = this.#open === undefined ? more : joined(this.#open, more)
    const open = isEnd ? joint.text.length : openEscapeFrom(joint.text)
    this.#open = open < joint.text.length ? cut(joint, open, joint.text.length) : undefined
    return decodeEscapes(cut(joint, 0, open))
  }

  /** Adds text that `read` has returned. */
  take(more: PlacedText): void {
    if (more.starts !== undefined || this.#starts !== undefined) this.#place(more)
    this.text += more.text
  }

  /** Creates a reading of the same text that decodes further text once more. */
  deeper(): GrowingReading {
    const { text, from, stop, sentence } = this
    const copy = Object.assign(new GrowingReading(true), { text, from, stop, sentence })
    copy.#base = this.#base
    copy.#starts = this.#starts?.slice()
    copy.#ends = this.#ends?.slice()
    return copy
  }

  /** Returns the positions of a range. */
  placeOf(start: number, end: number): readonly [start: number, end: number] {
    return [this.#startOf(start), this.#endOf(end)]
  }

  /** Returns the number of characters that end at a position or before it. */
  upTo(position: number): number {
    if (this.#ends !== undefined) return endingUpTo(this.#ends, position)
    return Math.max(0, Math.min(this.text.length, position - this.#base))
  }

  /** Moves a position inside an escape to the start or the end of the escape. */
  outside(position: number, isEnd = false): number {
    return outsideEscape({ starts: this.#starts, ends: this.#ends }, position, isEnd)
  }

  /** Drops decided text but for its last characters. */
  forget(kept: number): void {
    const spare = this.from - kept
    if (spare <= kept) return
    this.text = this.text.slice(spare)
    this.from -= spare
    this.#base += spare
    this.#starts = this.#starts?.slice(spare)
    this.#ends = this.#ends?.slice(spare)
  }

  #startOf(index: number): number {
    return this.#starts?.[index] ?? this.#base + index
  }

  /** Returns the position behind the characters before an index. */
  #endOf(index: number): number {
    return this.#ends?.[index - 1] ?? this.#base + index
  }

  #place(more: PlacedText): void {
    if (this.#starts === undefined) {
      const { length } = this.text
      this.#starts = Array.from({ length }, (_, at) => this.#base + at)
      this.#ends = this.#starts.map((start) => start + 1)
    }
    for (let at = 0; at < more.text.length; at++) {
      const [start, end] = [startIn(more, at), endIn(more, at)]
      this.#starts.push(start)
      this.#ends!.push(end)
      if (end - start > 1) this.lastEscape = end
    }
  }
}

function cut(placed: PlacedText, from: number, to: number): PlacedText {
  const { text, starts, ends } = placed
  return {
    text: text.slice(from, to),
    at: startIn(placed, from),
    starts: starts?.slice(from, to),
    ends: ends?.slice(from, to),
  }
}

function joined(first: PlacedText, second: PlacedText): PlacedText {
  const placesIn = (place: typeof startIn): number[] =>
    [first, second].flatMap((part) =>
      Array.from({ length: part.text.length }, (_, at) => place(part, at)),
    )
  const text = first.text + second.text
  return { text, at: first.at, starts: placesIn(startIn), ends: placesIn(endIn) }
}

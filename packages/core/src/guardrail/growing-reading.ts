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
 * One way to read a text that is still growing. Indices are into `text`; positions count from the
 * beginning of the original, and are negative in what stood before it.
 */
export class GrowingReading {
  text = ''
  /** Edits begin here. What stands before can no longer change. */
  from = 0
  /** The position up to which it was scanned. */
  stop = 0
  /** Number of the next sentence to scan at. */
  sentence = 0
  /** The position behind the last escape. */
  lastEscape = -1
  readonly #decodes: boolean
  /** Position of the first character. */
  #base = 0
  #starts: number[] | undefined
  #ends: number[] | undefined
  /** Position behind the last character. */
  #end = 0
  /** What may be the beginning of an escape. */
  #open: PlacedText | undefined

  constructor(decodes: boolean, before = '') {
    this.#decodes = decodes
    this.text = before
    this.#base = -before.length
  }

  /** The position before which everything is decided. */
  get decided(): number {
    return this.from < this.text.length ? this.#startOf(this.from) : this.#end
  }

  /** Whether an escape has begun. */
  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** Whether everything is decided. */
  get isDecided(): boolean {
    return this.from === this.text.length && !this.isOpen
  }

  /** Decodes what follows, if this reading does. It is not part of the reading before `take`. */
  read(more: PlacedText, isEnd: boolean): PlacedText {
    if (!this.#decodes) return more
    const joint = this.#open === undefined ? more : joined(this.#open, more)
    const open = isEnd ? joint.text.length : openEscapeFrom(joint.text)
    this.#open = open < joint.text.length ? cut(joint, open, joint.text.length) : undefined
    return decodeEscapes(cut(joint, 0, open))
  }

  /** Goes on with text that was read. */
  take(more: PlacedText): void {
    const { length } = more.text
    if (length === 0) return
    if (more.starts !== undefined || this.#starts !== undefined) this.#place(more)
    this.text += more.text
    this.#end = endIn(more, length - 1)
  }

  /** A reading of the same text, that decodes what follows once more. */
  deeper(): GrowingReading {
    const { text, from, stop, sentence } = this
    const copy = Object.assign(new GrowingReading(true), { text, from, stop, sentence })
    copy.#base = this.#base
    copy.#starts = this.#starts?.slice()
    copy.#ends = this.#ends?.slice()
    copy.#end = this.#end
    return copy
  }

  /** The positions of a stretch. */
  placeOf(start: number, end: number): readonly [start: number, end: number] {
    return [this.#startOf(start), this.#ends?.[end - 1] ?? this.#base + end]
  }

  /** The number of characters that end up to a position. */
  upTo(position: number): number {
    if (this.#ends !== undefined) return endingUpTo(this.#ends, position)
    return Math.max(0, Math.min(this.text.length, position - this.#base))
  }

  /** Moves a position that is inside an escape to its start, or its end. */
  outside(position: number, isEnd = false): number {
    return outsideEscape({ starts: this.#starts, ends: this.#ends }, position, isEnd)
  }

  /** Forgets what is decided but for some characters. */
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

  #place(more: PlacedText): void {
    if (this.#starts === undefined) {
      this.#starts = Array.from(this.text, () => 0)
      this.#ends = this.#starts.slice()
      for (let at = 0; at < this.text.length; at++) {
        this.#starts[at] = this.#base + at
        this.#ends[at] = this.#base + at + 1
      }
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
  const { text, at, starts, ends } = placed
  if (from === 0 && to === text.length) return placed
  return {
    text: text.slice(from, to),
    at: startIn(placed, from) || at + from,
    starts: starts?.slice(from, to),
    ends: ends?.slice(from, to),
  }
}

function joined(first: PlacedText, second: PlacedText): PlacedText {
  const text = first.text + second.text
  if (first.starts === undefined && second.starts === undefined) return { text, at: first.at }
  const placed = [first, second]
  const starts = placed.flatMap((part) =>
    Array.from({ length: part.text.length }, (_, at) => startIn(part, at)),
  )
  const ends = placed.flatMap((part) =>
    Array.from({ length: part.text.length }, (_, at) => endIn(part, at)),
  )
  return { text, at: first.at, starts, ends }
}

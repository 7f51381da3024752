import type { AppliedEdit } from './applied-edit.ts'
import { edited, insert } from './applied-edit.ts'
import { GrowingReading } from './growing-reading.ts'
import type { JudgedPart, ReadAs, ScanOptions, ScanWindow } from './scan-options.ts'
import { observes } from './scan-options.ts'
import type { PlacedText } from './text-reading.ts'
import { beforePair, maxEscapeDepth } from './text-reading.ts'
import type { TextEdit } from './verdict.ts'

const lookBehindChars = 64
/** Number of characters on both sides of a joint that a match may cover. */
const mostOfJoint = 576
const largeTailChars = 1024

const sentenceEnd = /[.!?…]["'”’»)\]]{0,4}\s|[\n。！？]/g
const sentenceTailChars = 5

/**
 * One streamed text: the judged part, the part that waits for more text, and the part that may pass. Positions
 * count from its beginning. The places of scans depend on the text and not on its chunks, except for scans at
 * each update, which rely on `pending` or `holdChars`.
 */
export class HeldText {
  readonly part: JudgedPart
  readonly callId: string | undefined
  /** Position of the first edit. */
  firstEdit: number = Infinity
  /** Position behind the text so far. */
  end = 0
  isClosed = false
  readonly #options: ScanOptions
  readonly #readAs: ReadAs
  /** The raw text, or the text as JSON; if it has escapes, also decoded once, twice and so on. */
  readonly #readings: GrowingReading[]
  /** Text that this one continues, until its ending is known. */
  #previous: HeldText | undefined
  /** Ending of the previous text with this text, as long as a match may cover both. */
  #joint: GrowingReading | undefined
  #before = ''
  #due: GrowingReading | undefined
  #window: ScanWindow | undefined
  /** Ordered edits without overlaps. */
  #edits: AppliedEdit[] = []
  /** Reached ranges, while several readings may find the same one. */
  #reached: (readonly [start: number, end: number])[] = []
  /** Ends of undecided sentences. */
  #sentenceEnds: number[] = []
  #sentencesDecided = 0
  #wholeSentences = 0
  #tail = ''
  #carry = ''
  /** Position up to which the text has passed. */
  #left = 0
  #endsInHalf = false

  /** @param previous text that a reader sees directly before this one */
  constructor(
    part: JudgedPart,
    callId: string | undefined,
    options: ScanOptions,
    previous?: HeldText,
  ) {
    this.part = part
    this.callId = callId
    this.#options = options
    const { readAs = 'decoded' } = options
    this.#readAs = part === 'arguments' && readAs === 'decoded' ? 'json' : readAs
    this.#readings = [new GrowingReading(this.#readAs === 'json')]
    if (this.#readAs !== 'json') this.#previous = previous
  }

  get isFinished(): boolean {
    return this.isClosed && this.#joint === undefined && this.#readings.every((r) => r.isDecided)
  }

  append(text: string): void {
    if (this.#options.release === 'sentence') {
      const joint = this.#tail + text
      for (const { index, 0: match } of joint.matchAll(sentenceEnd)) {
        const at = index + match.length - this.#tail.length
        if (at > 0) this.#sentenceEnds.push(this.end + at)
      }
      this.#tail = joint.slice(-sentenceTailChars)
    }
    this.#read({ text, at: this.end }, false)
    this.end += text.length
  }

  /** Marks the text as complete. */
  close(): void {
    this.isClosed = true
    this.#read({ text: '', at: this.end }, true)
  }

  /** Returns the next window to scan, if one is due. `pace` is the minimum number of new characters. */
  due(pace: number): ScanWindow | undefined {
    this.#join()
    for (const reading of this.#readings) {
      const window = this.#dueOf(reading, pace)
      if (window !== undefined) return window
    }
    return this.#joint && this.#dueOf(this.#joint, pace)
  }

  /** Applies the edits that the scan of the last window found. */
  apply(edits: readonly TextEdit[]): void {
    const reading = this.#due!
    const { text, from, final } = this.#window!
    const isWholeJoint = reading === this.#joint && text.length > mostOfJoint
    const open = final || isWholeJoint ? text.length : this.#cut(text, from)
    const decided = edits.length === 0 ? open : this.#applyUpTo(open, edits)
    reading.from = decided
    if (reading === this.#joint) {
      if (reading.decided > 0) this.#joint = undefined
    } else reading.forget(lookBehindChars)
    this.#forget()
    const whole = this.#decided
    while (this.#sentenceEnds[0]! <= whole) {
      this.#wholeSentences = this.#sentenceEnds.shift()!
      this.#sentencesDecided++
    }
  }

  /** Applies edits that begin before an index. Returns the index from which text can still change. */
  #applyUpTo(open: number, edits: readonly TextEdit[]): number {
    const { text, from } = this.#window!
    const found = edits
      .map((edit) => ({
        ...edit,
        start: Math.max(edit.start, from),
        end: Math.min(edit.end, text.length),
      }))
      .filter(({ start, end }) => start < end)
      .toSorted((left, right) => left.start - right.start)
    let decided = open
    // An edit that reaches into undecided text may still grow.
    for (const { start, end } of found.toReversed()) {
      if (decided < end) decided = Math.min(decided, start)
    }
    for (const edit of found) {
      if (edit.start >= decided) break
      this.#reach(edit, this.#due!)
    }
    return decided
  }

  /** Returns the position up to which the text may pass. `atEnd` means that no text follows. */
  limit(atEnd: boolean): number {
    if (observes(this.#options))
      return this.isClosed ? this.end : this.end - (this.#endsInHalf ? 1 : 0)
    const { release } = this.#options
    if (release === 'full') return atEnd ? this.#decided : 0
    let limit = release === 'sentence' && !this.isFinished ? this.#wholeSentences : this.#decided
    for (const reading of this.#readings) limit = reading.outside(limit)
    return limit
  }

  /** Returns true if the last piece, which ends at `to`, may pass unchanged. */
  leavesWhole(to: number, atEnd: boolean): boolean {
    const isUnchanged = this.firstEdit === Infinity && this.#carry === ''
    return isUnchanged && to === this.end && this.limit(atEnd) >= to
  }

  /** Returns the range from `from` to `to`, edited, of a text that begins at `start`. */
  render(text: string, start: number, from: number, to: number): string {
    this.#left = to
    const rendered = this.#carry + edited(text, start, from, to, this.#edits)
    // Half a surrogate pair passes together with its other half in the next piece.
    const whole = to < this.end ? beforePair(rendered, rendered.length) : rendered.length
    this.#carry = rendered.slice(whole)
    return rendered.slice(0, whole)
  }

  /** Last characters that a reader has seen. */
  get #ending(): string {
    const { text } = this.#readings[0]!
    const start = this.end - text.length
    const seen = edited(text, start, start, this.end, this.#edits)
    const before = this.#previous === undefined ? this.#before : this.#previous.#ending
    return (before + seen).slice(-lookBehindChars)
  }

  get #decided(): number {
    let decided = this.#joint === undefined ? Infinity : 0
    for (const reading of this.#readings) decided = Math.min(decided, reading.decided)
    return decided
  }

  #read(more: PlacedText, isEnd: boolean): void {
    let read = more
    for (let depth = 0; depth < this.#readings.length; depth++) {
      const reading = this.#readings[depth]!
      read = reading.read(read, isEnd)
      const isDeepest = depth === this.#readings.length - 1
      if (
        isDeepest &&
        this.#readAs !== 'raw' &&
        depth < maxEscapeDepth &&
        read.text.includes('\\')
      ) {
        this.#readings.push(reading.deeper())
      }
      reading.take(read)
    }
    if (this.#joint !== undefined && this.#joint.text.length <= mostOfJoint) this.#joint.take(more)
    if (more.text !== '')
      this.#endsInHalf = beforePair(more.text, more.text.length) < more.text.length
  }

  /** Starts to scan across the joint with the previous text. */
  #join(): void {
    if (this.#previous === undefined || this.end === 0) return
    this.#before = this.#previous.#ending
    this.#previous = undefined
    if (this.#before === '') return
    this.#joint = new GrowingReading(false, this.#before)
    this.#joint.take({ text: this.#readings[0]!.text, at: 0 })
  }

  #dueOf(reading: GrowingReading, pace: number): ScanWindow | undefined {
    const stop = this.#nextStop(reading, pace)
    const { text, from } = reading
    const final = stop === undefined && this.isClosed && from < text.length
    if (stop === undefined && !final) return undefined
    reading.stop = stop ?? this.end
    this.#due = reading
    this.#window = {
      part: this.part,
      callId: this.callId,
      text: text.slice(0, reading.upTo(reading.stop)),
      from,
      final,
    }
    return this.#window
  }

  #reach(edit: TextEdit, reading: GrowingReading): void {
    let [start, end] = reading.placeOf(edit.start, edit.end)
    if (reading === this.#joint) {
      // Other matches are found without the previous text.
      if (start >= 0 || end <= 0) return
      start = 0
    }
    for (const each of this.#readings) {
      start = each.outside(start)
      end = each.outside(end, true)
    }
    if (this.#readings.length > 1 || this.#joint !== undefined) {
      if (this.#reached.some(([first, last]) => first <= start && end <= last)) return
      this.#reached.push([start, end])
    }
    edit.onReached?.()
    const { replacement } = edit
    if (replacement === undefined || observes(this.#options)) return
    const json = this.#readAs === 'json' ? JSON.stringify(replacement).slice(1, -1) : replacement
    insert(this.#edits, { start, end, replacement: json })
    this.firstEdit = Math.min(this.firstEdit, start)
  }

  /** Drops edits that have passed, and readings that have become equal again. */
  #forget(): void {
    const decided = this.#decided
    const far = decided - 2 * lookBehindChars
    while (this.#edits[0] !== undefined && this.#edits[0].end < Math.min(far, this.#left)) {
      this.#edits.shift()
    }
    const isAlike = (reading: GrowingReading): boolean =>
      !reading.isOpen && reading.lastEscape + lookBehindChars < decided
    if (this.#readings.length > 1 && this.#readings.slice(1).every(isAlike)) {
      this.#readings.length = 1
      this.#reached = []
    }
  }

  /** Returns the next position to scan up to. */
  #nextStop(reading: GrowingReading, pace: number): number | undefined {
    const { release, checkEveryChars: every = 1 } = this.#options
    // A long undecided tail is scanned again after it has grown by a share of its length: the cost stays linear.
    const tail = reading.stop - reading.decided
    const past = reading.stop + Math.max(every, tail > largeTailChars ? tail >> 3 : 1)
    if (release === 'sentence') {
      reading.sentence = Math.max(reading.sentence, this.#sentencesDecided)
      while (this.#sentenceEnds[reading.sentence - this.#sentencesDecided]! < past) {
        reading.sentence++
      }
      return this.#sentenceEnds[reading.sentence - this.#sentencesDecided]
    }
    if (this.#options.checkEveryChars !== undefined) {
      const index = reading.upTo(past)
      const stop = beforePair(reading.text, index) < index ? past + 1 : past
      return stop <= this.end ? stop : undefined
    }
    if (release === 'full' || this.isClosed) return undefined
    return this.end >= Math.max(past, reading.stop + pace) ? this.end : undefined
  }

  /** Returns the index from which the text is undecided. */
  #cut(text: string, from: number): number {
    const { pending, release, holdChars = release === 'sentence' ? 0 : 256 } = this.#options
    const cut = pending?.(text, from) ?? wordStart(text, text.length - holdChars)
    return Math.max(from, beforePair(text, Math.min(cut, text.length)))
  }
}

/** Returns the start of the word at an index, so that the next window does not begin within a word. */
function wordStart(text: string, index: number): number {
  if (index === text.length) return index
  for (let at = index; at > index - lookBehindChars; at--) {
    if (text.charCodeAt(at - 1) <= 32) return at
  }
  return index
}

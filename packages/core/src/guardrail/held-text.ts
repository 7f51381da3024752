import type { AppliedEdit } from './applied-edit.ts'
import { edited, insert } from './applied-edit.ts'
import { GrowingReading } from './growing-reading.ts'
import type { JudgedPart, ReadAs, ScanOptions, ScanWindow } from './scan-options.ts'
import { observes } from './scan-options.ts'
import type { PlacedText } from './text-reading.ts'
import { beforePair, maxEscapeDepth } from './text-reading.ts'
import type { TextEdit } from './verdict.ts'

const lookBehindChars = 64
/** Characters around a joint that a match may reach over. */
const mostOfJoint = 576
const largeTailChars = 1024

const sentenceEnd = /[.!?…]["'”’»)\]]{0,4}\s|[\n。！？]/g
const sentenceTailChars = 5

/**
 * One text on its way: what was judged, what waits for more, and what may leave. Positions count
 * from its beginning. Where it is scanned depends on the text and not on its chunks, except for
 * scans at each update, and those rest on `pending` or `holdChars`.
 */
export class HeldText {
  readonly part: JudgedPart
  readonly callId: string | undefined
  /** Where the first edit begins. */
  firstEdit: number = Infinity
  /** Where the text ends so far. */
  end = 0
  isClosed = false
  readonly #options: ScanOptions
  readonly #readAs: ReadAs
  /** The text as it stands, or as JSON; and, with escapes in it, decoded once, twice and so on. */
  readonly #readings: GrowingReading[]
  /** The text that this one goes on from, until what it ends in is known. */
  #previous: HeldText | undefined
  /** What the text before ended in, and this one as long as a match may reach over the joint. */
  #joint: GrowingReading | undefined
  #before = ''
  #due: GrowingReading | undefined
  #window: ScanWindow | undefined
  /** In their order, without overlaps. */
  #edits: AppliedEdit[] = []
  /** Stretches that were reached, while there are several readings that may come to the same. */
  #reached: (readonly [start: number, end: number])[] = []
  /** Where sentences end that are not decided. */
  #sentenceEnds: number[] = []
  #sentencesDecided = 0
  #wholeSentences = 0
  #tail = ''
  #carry = ''
  /** Up to where it has left. */
  #left = 0
  #endsInHalf = false

  /** `previous` is the text that a reader sees right before this one. */
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

  /** Nothing is appended any more. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#read({ text: '', at: this.end }, true)
  }

  /** What to scan next, if anything. `pace` is the least number of new characters for a scan. */
  due(pace: number): ScanWindow | undefined {
    this.#join()
    for (const reading of this.#readings) {
      const window = this.#dueOf(reading, pace)
      if (window !== undefined) return window
    }
    return this.#joint && this.#dueOf(this.#joint, pace)
  }

  /** Takes in what the scan of the last window found. */
  apply(edits: readonly TextEdit[]): void {
    const reading = this.#due!
    const { text, from, final } = this.#window!
    const isWholeJoint = reading === this.#joint && text.length > mostOfJoint
    const open = final || isWholeJoint ? text.length : this.#cut(text, from)
    const decided = edits.length === 0 ? open : this.#applyUpTo(open, edits)
    reading.from = decided
    if (reading === this.#joint) {
      if (decided === text.length || reading.decided > 0) this.#joint = undefined
    } else reading.forget(lookBehindChars)
    this.#forget()
    const whole = this.#decided
    while (this.#sentenceEnds[0]! <= whole) {
      this.#wholeSentences = this.#sentenceEnds.shift()!
      this.#sentencesDecided++
    }
  }

  /** Applies edits that begin before an index. Returns the index of what can still change. */
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
    // An edit that reaches into what is still open may yet grow.
    for (const { start, end } of found.toReversed()) {
      if (start < decided && decided < end) decided = start
    }
    for (const edit of found) {
      if (edit.start >= decided) break
      this.#reach(edit, this.#due!)
    }
    return decided
  }

  /** Up to where the text may leave. `atEnd`: nothing more comes from any text. */
  limit(atEnd: boolean): number {
    if (observes(this.#options))
      return this.isClosed ? this.end : this.end - (this.#endsInHalf ? 1 : 0)
    const { release } = this.#options
    if (release === 'full') return atEnd ? this.#decided : 0
    const limit = release === 'sentence' && !this.isFinished ? this.#wholeSentences : this.#decided
    return this.#readings.reduce((at, reading) => reading.outside(at), limit)
  }

  /** Returns true if the last piece, which ends at `to`, may leave as it is. */
  leavesWhole(to: number, atEnd: boolean): boolean {
    const isEdited = this.firstEdit < to || this.#carry !== ''
    if (isEdited || to < this.end || this.limit(atEnd) < to) return false
    this.#left = to
    return true
  }

  /** What leaves in the place of the stretch from `from` to `to` of a text that begins at `start`. */
  render(text: string, start: number, from: number, to: number): string {
    this.#left = Math.max(this.#left, to)
    const rendered = this.#carry + edited(text, start, from, to, this.#edits)
    // Half a character goes with its other half, which is in the next piece.
    const whole = to < this.end ? beforePair(rendered, rendered.length) : rendered.length
    this.#carry = rendered.slice(whole)
    return rendered.slice(0, whole)
  }

  /** What the reader of this text has last seen. */
  get #ending(): string {
    const { text } = this.#readings[0]!
    const start = this.end - text.length
    const seen = edited(text, start, start, this.end, this.#edits)
    const before = this.#previous === undefined ? this.#before : this.#previous.#ending
    return (before + seen).slice(-lookBehindChars)
  }

  get #decided(): number {
    let decided = this.#joint === undefined ? Infinity : Math.max(0, this.#joint.decided)
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

  /** Begins to look over the joint to the text before. */
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
      text: final ? text : text.slice(0, reading.upTo(reading.stop)),
      from,
      final,
    }
    return this.#window
  }

  #reach(edit: TextEdit, reading: GrowingReading): void {
    let [start, end] = reading.placeOf(edit.start, edit.end)
    if (reading === this.#joint) {
      // All others are found without what stands before.
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

  /** Forgets what no longer matters: edits far behind, and readings that have become alike again. */
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

  /** The next position to scan up to. */
  #nextStop(reading: GrowingReading, pace: number): number | undefined {
    const { release, checkEveryChars: every = 1 } = this.#options
    // A long tail is scanned again when it has grown by a part of itself, so the cost stays linear.
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

  /** The index from which on nothing is certain yet. */
  #cut(text: string, from: number): number {
    const { pending, release, holdChars = release === 'sentence' ? 0 : 256 } = this.#options
    const cut = pending?.(text, from) ?? wordStart(text, text.length - holdChars)
    return Math.max(from, beforePair(text, Math.min(cut, text.length)))
  }
}

/** The start of the word at an index, so that the next window does not begin inside one. */
function wordStart(text: string, index: number): number {
  if (index === text.length) return index
  for (let at = index; at > index - lookBehindChars && at > 0; at--) {
    if (text.charCodeAt(at - 1) <= 32) return at
  }
  return index
}

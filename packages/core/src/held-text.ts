/**
 * What leaves when: everything at once, all but what could still become a match, whole sentences,
 * or nothing before the end.
 */
export type ReleasePolicy = 'passthrough' | 'window' | 'sentence' | 'full'

/** Kinds of text that a gate can watch. */
export type GuardedPart = 'text' | 'reasoning' | 'refusal' | 'arguments'

/** A stretch that a scan found. Offsets are into the text of its window. */
export interface Finding {
  readonly start: number
  readonly end: number
  /** Takes the place of the stretch. Without one the text stays. */
  readonly replacement?: string | undefined
  /** Thrown when the gate comes to the stretch. */
  readonly block?: unknown
}

/** A view of the text that a scan is to judge. */
export interface ScanWindow {
  readonly part: GuardedPart
  /** The call that arguments are of. */
  readonly callId?: string | undefined
  readonly text: string
  /** Findings begin here. What stands before is context that was judged already. */
  readonly from: number
  /** Whether the text ends here. */
  readonly final: boolean
}

/** How a text is scanned and released. */
export interface ScanOptions<F extends Finding = Finding> {
  readonly release: ReleasePolicy
  /**
   * The index from which on the text may still be the start of a match, or of a longer one; the
   * length of the text if nothing is open. It must not depend on how the text was cut.
   */
  readonly pending?: ((text: string, from: number) => number) | undefined
  /**
   * Characters at the end that may still become a match, for guards without `pending`: the length
   * of the longest match.
   * @default 256, and 0 for `sentence`
   */
  readonly holdChars?: number | undefined
  /**
   * Scans whenever this many characters have come (for `sentence`: at the next sentence end).
   * @default each update, for `sentence` each sentence, for `full` only at the end
   */
  readonly checkEveryChars?: number | undefined
  /**
   * Lets everything leave at once. It is scanned as `release` says, and findings are told and not
   * applied.
   * @default true for `passthrough`, otherwise false
   */
  readonly observe?: boolean | undefined
  /**
   * Told of each finding once, in the order of the text, as soon as more text cannot change it. May
   * throw to block.
   */
  readonly onFinding?: ((finding: F) => void) | undefined
}

interface Edit {
  readonly start: number
  end: number
  readonly replacement: string
}

const lookBehindChars = 64
const largeTailChars = 1024
const sentenceEnd = /[.!?…]["'”’»)\]]{0,4}\s|[\n。！？]/g
const sentenceTailChars = 5

/**
 * One text on its way: what was judged, what waits for more, and what may leave. Positions count
 * from its beginning. Where it is scanned depends on the text and not on its chunks, except for
 * scans at each update, and those rest on `pending` or `holdChars`.
 */
export class HeldText<F extends Finding> {
  readonly part: GuardedPart
  readonly callId: string | undefined
  /** Where the first edit begins. */
  firstEdit: number = Infinity
  /** Where the text ends so far. */
  end = 0
  closed = false
  readonly #options: ScanOptions<F>
  #text = ''
  /** Where `#text` begins. */
  #base = 0
  /** What is before can no longer change. */
  #decided = 0
  /** Up to where it was scanned. */
  #stop = 0
  #edits: Edit[] = []
  #window: ScanWindow | undefined
  /** Those that are not decided. */
  #sentenceEnds: number[] = []
  /** Index of the first that is still to be scanned at. */
  #nextSentence = 0
  #wholeSentences = 0
  #tail = ''
  #carry = ''

  constructor(part: GuardedPart, callId: string | undefined, options: ScanOptions<F>) {
    this.part = part
    this.callId = callId
    this.#options = options
  }

  get isFinished(): boolean {
    return this.closed && this.#decided === this.end
  }

  append(text: string): void {
    this.#text += text
    if (this.#options.release === 'sentence') {
      const joint = this.#tail + text
      for (const { index, 0: match } of joint.matchAll(sentenceEnd)) {
        const at = index + match.length - this.#tail.length
        if (at > 0) this.#sentenceEnds.push(this.end + at)
      }
      this.#tail = joint.slice(-sentenceTailChars)
    }
    this.end += text.length
  }

  /** What to scan next, if anything. `pace` is the least number of new characters for a scan. */
  due(pace: number): ScanWindow | undefined {
    const stop = this.#nextStop(pace)
    const final = stop === undefined && this.closed && this.#decided < this.end
    if (stop === undefined && !final) return undefined
    this.#stop = stop ?? this.end
    this.#window = {
      part: this.part,
      callId: this.callId,
      text: this.#text.slice(0, this.#stop - this.#base),
      from: this.#decided - this.#base,
      final,
    }
    return this.#window
  }

  /** Takes in what the scan of the last window found. */
  apply(findings: readonly F[]): void {
    const { text, from, final } = this.#window!
    let decided = this.#base + (final ? text.length : this.#cut(text, from))
    const found = findings
      .map((finding) => ({
        finding,
        start: this.#base + Math.max(finding.start, from),
        end: this.#base + Math.min(finding.end, text.length),
      }))
      .filter(({ start, end }) => start < end)
      .toSorted((left, right) => left.start - right.start)
    // A finding that reaches into what is still open may yet grow.
    for (const { start, end } of found.toReversed()) {
      if (start < decided && decided < end) decided = start
    }
    for (const { finding, start, end } of found) {
      if (start >= decided) break
      this.#options.onFinding?.(finding)
      if (finding.block !== undefined) throw finding.block
      const { replacement } = finding
      if (replacement === undefined || observes(this.#options)) continue
      const last = this.#edits.at(-1)
      if (last !== undefined && start < last.end) last.end = Math.max(last.end, end)
      else this.#edits.push({ start, end, replacement })
      this.firstEdit = Math.min(this.firstEdit, start)
    }
    this.#decided = decided
    while (this.#sentenceEnds[0]! <= decided) {
      this.#wholeSentences = this.#sentenceEnds.shift()!
      if (this.#nextSentence > 0) this.#nextSentence--
    }
    const spare = decided - lookBehindChars - this.#base
    if (spare > lookBehindChars) {
      this.#text = this.#text.slice(spare)
      this.#base += spare
    }
  }

  /** Up to where the text may leave. `atEnd`: nothing more comes from any text. */
  limit(atEnd: boolean): number {
    if (observes(this.#options)) {
      return this.closed ? this.end : this.#base + beforePair(this.#text, this.#text.length)
    }
    const { release } = this.#options
    if (release === 'full') return atEnd ? this.#decided : 0
    return release === 'sentence' && !this.isFinished ? this.#wholeSentences : this.#decided
  }

  /** What leaves in the place of the stretch from `from` to `to` of a text that begins at `start`. */
  render(text: string, start: number, from: number, to: number): string {
    let rendered = this.#carry
    let at = from
    for (const edit of this.#edits) {
      if (edit.start >= to) break
      if (edit.start >= from)
        rendered += text.slice(at - start, edit.start - start) + edit.replacement
      at = Math.min(edit.end, to)
    }
    rendered += text.slice(at - start, to - start)
    while (this.#edits[0] !== undefined && this.#edits[0].end <= to) this.#edits.shift()
    // Half a character goes with its other half, which is in the next piece.
    const whole = to < this.end ? beforePair(rendered, rendered.length) : rendered.length
    this.#carry = rendered.slice(whole)
    return rendered.slice(0, whole)
  }

  #nextStop(pace: number): number | undefined {
    const { release, checkEveryChars: every = 1 } = this.#options
    // A long tail is scanned again when it has grown by a part of itself, so the cost stays linear.
    const tail = this.#stop - this.#decided
    const past = this.#stop + Math.max(every, tail > largeTailChars ? tail >> 3 : 1)
    if (release === 'sentence') {
      while (this.#sentenceEnds[this.#nextSentence]! < past) this.#nextSentence++
      return this.#sentenceEnds[this.#nextSentence]
    }
    if (this.#options.checkEveryChars !== undefined) {
      const isHalf = beforePair(this.#text, past - this.#base) < past - this.#base
      const stop = isHalf ? past + 1 : past
      return stop <= this.end ? stop : undefined
    }
    if (release === 'full' || this.closed) return undefined
    return this.end >= Math.max(past, this.#stop + pace) ? this.end : undefined
  }

  /** The index from which on nothing is certain yet. */
  #cut(text: string, from: number): number {
    const { pending, release, holdChars = release === 'sentence' ? 0 : 256 } = this.#options
    const cut = pending?.(text, from) ?? wordStart(text, text.length - holdChars)
    return Math.max(from, beforePair(text, Math.min(cut, text.length)))
  }
}

/** Whether a guard with these options only watches. */
export function observes({ release, observe }: ScanOptions<never>): boolean {
  return observe ?? release === 'passthrough'
}

/** An index that cannot part a surrogate pair, whatever comes. */
function beforePair(text: string, index: number): number {
  const code = text.charCodeAt(index - 1)
  return code >= 0xd800 && code < 0xdc00 ? index - 1 : index
}

/** The start of the word at an index, so that the next window does not begin inside one. */
function wordStart(text: string, index: number): number {
  if (index === text.length) return index
  for (let at = index; at > index - lookBehindChars && at > 0; at--) {
    if (text.charCodeAt(at - 1) <= 32) return at
  }
  return index
}

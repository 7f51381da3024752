import type { InjectionSignal } from '../signals/injection-signal.ts'

/** A stretch of a text. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

/**
 * Searches one text for signals; each part of a signal is searched for once, and only when needed.
 */
export class SignalSearch {
  readonly #cased: string
  readonly #isAscii: boolean
  readonly #lines: string
  /** The text in lower case, in one line. */
  readonly text: string
  readonly #isThere = new Map<RegExp, boolean>()
  readonly #found = new Map<RegExp, readonly Stretch[]>()

  constructor(text: string) {
    this.#cased = text
    this.#isAscii = !notAscii.test(text)
    // One letter alone grows when it becomes small, and a text without accents has none of it.
    this.#lines = text.toLowerCase()
    // Where a line ends says little: a sentence may be broken anywhere.
    this.text = this.#lines.replaceAll('\n', ' ')
  }

  /** Returns where a signal is first found, from the first of its parts to the last. */
  find(signal: InjectionSignal): Stretch | undefined {
    if (!this.hasParts(signal)) return undefined
    const text = this.#read(signal)
    const parts = signal.parts.map((pattern) => this.#all(pattern, text))
    for (const order of signal.anyOrder ? anyOrder[parts.length]! : [parts.keys()]) {
      let reached: readonly Stretch[] | undefined
      for (const at of order) {
        reached = reached ? this.#next(reached, parts[at]!, signal.within) : parts[at]!
      }
      if (reached?.[0]) return reached[0]
    }
    return undefined
  }

  /** Returns true if the text contains all parts of a signal. */
  hasParts(signal: InjectionSignal): boolean {
    if (signal.isForeign && this.#isAscii) return false
    const text = this.#read(signal)
    if (signal.needs?.some((pattern) => !this.#has(pattern, text))) return false
    return signal.parts.every((pattern) => this.#has(pattern, text))
  }

  #read({ cased, inLines }: InjectionSignal): string {
    if (cased) return this.#cased
    return inLines ? this.#lines : this.text
  }

  #has(pattern: RegExp, text: string): boolean {
    let isThere = this.#isThere.get(pattern)
    if (isThere === undefined) {
      isThere = text.search(pattern) >= 0
      this.#isThere.set(pattern, isThere)
    }
    return isThere
  }

  #all(pattern: RegExp, text: string): readonly Stretch[] {
    let found = this.#found.get(pattern)
    if (found === undefined) {
      found = Array.from(text.matchAll(pattern), ({ 0: match, index }) => ({
        start: index,
        end: index + match.length,
      }))
      this.#found.set(pattern, found)
    }
    return found
  }

  /** Returns those of `later` that stand near one of `earlier`, each from the start of that one. */
  #next(earlier: readonly Stretch[], later: readonly Stretch[], within: number): Stretch[] {
    const near: Stretch[] = []
    let at = 0
    for (const { start, end } of later) {
      while (at + 1 < earlier.length && earlier[at + 1]!.end <= start) at++
      const before = earlier[at]
      if (before === undefined || before.end > start || start - before.end > within) continue
      if (!sentenceEnd.test(this.text.slice(before.end, start))) {
        near.push({ start: before.start, end })
      }
    }
    return near
  }
}

/**
 * The orders that languages have, by the number of parts: for a verb and what it is about; for a verb, what is
 * to be dropped, and which of it.
 */
const anyOrder: Readonly<Record<number, readonly (readonly number[])[]>> = {
  2: [
    [0, 1],
    [1, 0],
  ],
  3: [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [2, 1, 0],
    [1, 2, 0],
  ],
}
const notAscii = /[\u0080-\uffff]/
const sentenceEnd = /[!?\u3002\u0964]|\.(?!\w)/

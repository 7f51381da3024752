import type { InjectionSignal } from '../signals/injection-signal.ts'

/** A stretch of a text. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

/** Looks for signals in one text; each part of one is looked for but once, and only when needed. */
export class SignalSearch {
  readonly #cased: string
  readonly #lines: string
  readonly #text: string
  readonly #isThere = new Map<RegExp, boolean>()
  readonly #found = new Map<RegExp, readonly Stretch[]>()

  constructor(text: string) {
    this.#cased = text
    // One letter alone grows when it becomes small, and a text without accents has none of it.
    this.#lines = text.toLowerCase()
    // Where a line ends says little: a sentence may be broken anywhere.
    this.#text = this.#lines.replaceAll('\n', ' ')
  }

  /** Where a signal is first found, from the first of its parts to the last. */
  find(signal: InjectionSignal): Stretch | undefined {
    const plain = signal.inLines ? this.#lines : this.#text
    const text = signal.cased ? this.#cased : plain
    if (!signal.parts.every((pattern) => this.#has(pattern, text))) return undefined
    const parts = signal.parts.map((pattern) => this.#all(pattern, text))
    for (const order of signal.anyOrder ? anyOrder : [parts.keys()]) {
      let reached: readonly Stretch[] | undefined
      for (const at of order) {
        reached = reached ? this.#next(reached, parts[at]!, signal.within) : parts[at]!
      }
      if (reached?.[0]) return reached[0]
    }
    return undefined
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

  /** Those of `later` that stand near one of `earlier`, each from where that one starts. */
  #next(earlier: readonly Stretch[], later: readonly Stretch[], within: number): Stretch[] {
    const near: Stretch[] = []
    let at = 0
    for (const { start, end } of later) {
      while (at + 1 < earlier.length && earlier[at + 1]!.end <= start) at++
      const before = earlier[at]
      if (before === undefined || before.end > start || start - before.end > within) continue
      if (!sentenceEnd.test(this.#text.slice(before.end, start))) {
        near.push({ start: before.start, end })
      }
    }
    return near
  }
}

// Of a verb, what is to be dropped, and which of it: the orders that languages have for these.
const anyOrder = [
  [0, 1, 2],
  [0, 2, 1],
  [2, 1, 0],
  [1, 2, 0],
]
const sentenceEnd = /[.!?\u3002\u0964]/

import type { InjectionSignal } from '../signals/injection-signal.ts'
import { startsOf } from './match-starts.ts'

/**
 * Finds the signals that a text may have by the beginnings of its words, and by its signs. Most texts have few, and most
 * of the time of an assessment would go into searches that find nothing.
 */
export class SignalIndex {
  readonly #signals: readonly InjectionSignal[]
  /** Beginnings that a part of a signal needs, a letter at a time. */
  readonly #starts: Letter = newLetter()
  /** Places of signals that no beginning rules out, and of those that no text in ASCII has. */
  readonly #others: number[] = []
  readonly #foreign: number[] = []

  constructor(signals: readonly InjectionSignal[]) {
    this.#signals = signals
    signals.forEach((signal, place) => {
      const starts = signal.isForeign ? undefined : fewestStarts(signal)
      if (starts === undefined) (signal.isForeign ? this.#foreign : this.#others).push(place)
      for (const start of starts ?? []) this.#add(start, place)
    })
  }

  /** Returns the signals that a text of small letters may have, in their order. */
  possibleIn(text: string): readonly InjectionSignal[] {
    const possible = new Set(this.#others)
    if (notAscii.test(text)) for (const place of this.#foreign) possible.add(place)
    let isInWord = false
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const wasInWord = isInWord
      isInWord = isWord(code)
      if (isInWord && wasInWord) continue
      let letter = this.#starts.next.get(code)
      for (let end = at + 1; letter !== undefined; end++) {
        for (const place of letter.places) possible.add(place)
        letter = letter.next.get(text.charCodeAt(end))
      }
    }
    return [...possible].toSorted((one, other) => one - other).map((place) => this.#signals[place]!)
  }

  #add(start: string, place: number): void {
    let letter = this.#starts
    for (let at = 0; at < start.length; at++) {
      const next = letter.next.get(start.charCodeAt(at)) ?? newLetter()
      letter.next.set(start.charCodeAt(at), next)
      letter = next
    }
    letter.places.push(place)
  }
}

interface Letter {
  /** Places of the signals that need the beginning up to this letter. */
  readonly places: number[]
  readonly next: Map<number, Letter>
}

const newLetter = (): Letter => ({ places: [], next: new Map() })
const notAscii = /[\u0080-\uffff]/

/** Returns true for what `\w` matches. */
function isWord(code: number): boolean {
  return (
    (code > 47 && code < 58) || (code > 64 && code < 91) || (code > 96 && code < 123) || code === 95
  )
}

/** Returns the beginnings of the part of a signal that has the fewest. */
function fewestStarts({
  cased,
  inLines,
  needs,
  parts,
}: InjectionSignal): ReadonlySet<string> | undefined {
  if (cased || inLines) return undefined
  const known = [needs ?? [], parts].flat().flatMap((pattern) => startsOf(pattern) ?? [])
  return known.toSorted((one, other) => one.size - other.size)[0]
}

import type { InjectionCategory } from '../signals/injection-signal.ts'

/** Sign of an attack, and its place in the text. Offsets are in UTF-16 units. */
export interface InjectionMatch {
  /** Kind of attack that the sign indicates. */
  readonly category: InjectionCategory
  /** Certainty of an attack by this sign alone, from 0 to 1. */
  readonly weight: number
  /** Start index in the text. */
  readonly start: number
  /** End index in the text, exclusive. */
  readonly end: number
}

const notAscii = /[\u0080-\uffff]/
// Three tags in a row, but not after a black flag: that spells a region.
const tags =
  /(?<![\u{1f3f4}\u{e0020}-\u{e007f}])[\u{e0020}-\u{e007e}][\u{e0020}-\u{e007e}][\u{e0020}-\u{e007e}]/gu
const variations = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{4,}/gu
const overrides = /[\u202d\u202e]/g
const inWord = /[A-Za-z][\u200b-\u200d\u2060\ufeff]+(?=[A-Za-z])/g

/**
 * Finds text that a model reads and a person does not see, or sees in another order: one match for
 * each kind.
 */
export function findHiddenText(text: string): readonly InjectionMatch[] {
  if (!notAscii.test(text)) return []
  return [
    ...found(text, tags, 0.8),
    ...found(text, variations, 0.7),
    ...found(text, overrides, 0.4),
    ...found(text, inWord, 0.4, 3),
  ]
}

/** From the first place to the last, if there are enough. */
function found(text: string, pattern: RegExp, weight: number, least = 1): InjectionMatch[] {
  const places = [...text.matchAll(pattern)]
  const last = places.at(-1)
  if (last === undefined || places.length < least) return []
  const start = places[0]!.index
  return [{ category: 'hidden-text', weight, start, end: last.index + last[0].length }]
}

import { normalizeText } from '@lamella/text'

/** Aim of an attack. */
export type InjectionCategory =
  | 'override'
  | 'leak'
  | 'fake-turn'
  | 'persona'
  | 'role-play'
  | 'authority'
  | 'tool-abuse'
  | 'exfiltration'
  | 'encoded'
  | 'hidden-text'
  | 'classified'
  | 'custom'

/** A pattern of an attack, for text in lower case, without accents, with single spaces. */
export interface InjectionSignal {
  readonly category: InjectionCategory
  /**
   * Certainty of an attack by this signal, from 0 to 1. The total is 1 minus the product of `1 -
   * weight` of all signals.
   */
  readonly weight: number
  /**
   * Parts that follow each other in one sentence. Each has no repetition, so that it takes linear
   * time.
   */
  readonly parts: readonly RegExp[]
  /** Maximum number of characters between two parts. */
  readonly within: number
  /** True if the parts may come in another order. @default false */
  readonly anyOrder?: boolean
  /** Language of the signal. Without one, it applies to every language. */
  readonly language?: string
  /** True if capitals matter. @default false */
  readonly cased?: boolean
  /** True if line breaks matter; otherwise a line break is read as a space. @default false */
  readonly inLines?: boolean
  /** True if each match has a character outside ASCII. @default false */
  readonly isForeign?: boolean
  /** Patterns that match in every text with the signal: one search rules out several signals. @default none */
  readonly needs?: readonly RegExp[]
}

/** The start of a Cyrillic word, which `\b` does not find. */
export const cyrillicStart = '(?<![\\u0400-\\u04ff])'

type More = Partial<
  Pick<
    InjectionSignal,
    'within' | 'anyOrder' | 'language' | 'cased' | 'inLines' | 'isForeign' | 'needs'
  >
>

/** Makes signals of one category; a list is of parts. */
export function signalsOf(
  category: InjectionCategory,
  language?: string,
): (weight: number, parts: string | readonly string[], more?: More) => InjectionSignal {
  return (weight, parts, more) => ({
    category,
    weight,
    within: 40,
    ...(language !== undefined && { language }),
    ...more,
    parts: [parts].flat().map(compiled),
  })
}

const known = new Map<string, RegExp>()

/** One object for equal parts, so that a text is searched for each but once. */
function compiled(part: string): RegExp {
  const pattern = known.get(part) ?? new RegExp(part, 'g')
  known.set(part, pattern)
  return pattern
}

/** Creates a pattern for any of some whole words. */
export const words = (alternatives: string): string => `\\b(?:${alternatives})\\b`

/** Writes stems as they are in a text that was normalized. */
export function normalizedStems(stems: string): string {
  return normalizeText(stems, { stripDiacritics: true, homoglyphs: false }).text
}

const cyrillic = /[\u0400-\u04ff]/g
const arabic = /[\u0600-\u06ff]/g
const letters: Readonly<Record<string, RegExp>> = {
  ru: cyrillic,
  uk: cyrillic,
  bg: cyrillic,
  el: /[\u0370-\u03ff]/g,
  ar: arabic,
  fa: arabic,
  he: /[\u0590-\u05ff]/g,
  hi: /[\u0900-\u097f]/g,
  bn: /[\u0980-\u09ff]/g,
  th: /[\u0e00-\u0e7f]/g,
  zh: /[\u4e00-\u9fff]/g,
  ja: /[\u3040-\u30ff]/g,
  ko: /[\u1100-\u11ff\uac00-\ud7af]/g,
}

/** Returns a pattern for a letter of a language that has its own, in a list. */
export function lettersOf(language: string): readonly RegExp[] {
  const pattern = letters[language]
  return pattern ? [pattern] : []
}

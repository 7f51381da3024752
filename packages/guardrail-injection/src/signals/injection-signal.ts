import { normalizeText } from '@lamella/core/authoring'

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
  | 'custom'

/** Something to look for in a text of small letters without accents, with single spaces. */
export interface InjectionSignal {
  readonly category: InjectionCategory
  /**
   * How sure it makes of an attack, from 0 to 1. Signals add up as independent witnesses do: what is
   * left of the doubt is the product of theirs.
   */
  readonly weight: number
  /** Found one after another in one sentence. Each without repetition, so that each takes linear time. */
  readonly parts: readonly RegExp[]
  /** Characters at most between two parts. */
  readonly within: number
  /** True if the parts may come in another order. @default false */
  readonly anyOrder?: boolean
  /** The language it is in. Without one, it is looked for whatever the language. */
  readonly language?: string
  /** True if capitals matter. @default false */
  readonly cased?: boolean
  /** True if line breaks matter; otherwise a line break is read as a space. @default false */
  readonly inLines?: boolean
  /** True if each match has a character outside ASCII. @default false */
  readonly isForeign?: boolean
  /** Pattern that matches in every text with the signal: one search rules out several signals. @default none */
  readonly needs?: RegExp
}

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

/** Any of some words, whole. */
export const words = (alternatives: string): string => `\\b(?:${alternatives})\\b`

/** Writes stems as they are in a text that was normalized. People also write `d` for the Vietnamese `đ`. */
export function normalizedStems(stems: string): string {
  const { text } = normalizeText(stems, { stripDiacritics: true, homoglyphs: false })
  return text.replaceAll('đ', '[dđ]')
}

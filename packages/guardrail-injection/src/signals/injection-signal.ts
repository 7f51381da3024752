/** What an attack tries to do. */
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
  /** Whether the parts may come in another order. */
  readonly anyOrder?: boolean
  /** The language it is in. Without one, it is looked for whatever the language. */
  readonly language?: string
  /** Whether capitals matter. */
  readonly cased?: boolean
  /** Whether it matters where lines begin; otherwise a line break is a space. */
  readonly inLines?: boolean
}

type More = Partial<Pick<InjectionSignal, 'within' | 'anyOrder' | 'language' | 'cased' | 'inLines'>>

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

import { normalizeText } from '@lamella/core/authoring'
import { authoritySignals } from './authority-signals.ts'
import { findEncodedText } from './encoded-text.ts'
import { foreignSignals } from './foreign-signals.ts'
import type { InjectionMatch } from './hidden-text.ts'
import { findHiddenText } from './hidden-text.ts'
import type { InjectionCategory, InjectionSignal } from './injection-signal.ts'
import { leakSignals } from './leak-signals.ts'
import { overrideSignals } from './override-signals.ts'
import { personaSignals } from './persona-signals.ts'
import { SignalSearch } from './signal-search.ts'

/** What the patterns say of a text. */
export interface InjectionAssessment {
  /** From 0 to 1: how sure it is that this is an attack. */
  readonly score: number
  /** What speaks for it most. */
  readonly category?: InjectionCategory | undefined
  /** Offsets are into the text as it was given. */
  readonly matches: readonly InjectionMatch[]
}

export interface AssessOptions {
  /**
   * What is looked for.
   * @default all categories
   */
  readonly categories?: readonly InjectionCategory[] | undefined
  /**
   * Languages of the phrases, such as `en` and `de`.
   * @default 'auto': all there are
   */
  readonly languages?: 'auto' | readonly string[] | undefined
  /**
   * Categories of which any one sign is enough, as with a plain list of forbidden words.
   * @default none
   */
  readonly strict?: readonly InjectionCategory[] | undefined
  /** Patterns of your own; any match is enough. They must take linear time. */
  readonly extraPatterns?: readonly RegExp[] | undefined
  /**
   * How many layers of base64, hex, percent and escape codes are read.
   * @default 2
   */
  readonly decodeDepth?: number | undefined
}

export const injectionSignals: readonly InjectionSignal[] = [
  ...overrideSignals,
  ...leakSignals,
  ...authoritySignals,
  ...personaSignals,
  ...foreignSignals,
]

/** Signs that go together anyway: of these, only the strongest counts. */
const countedOnce: readonly InjectionCategory[] = [
  'role-play',
  'fake-turn',
  'hidden-text',
  'encoded',
]

/** Makes the function that looks for signs of an attack in a text, in time linear in its length. */
export function injectionAssessor(
  options: AssessOptions = {},
): (text: string) => InjectionAssessment {
  const { categories, languages = 'auto', strict = [], decodeDepth = 2 } = options
  const looksFor = (category: InjectionCategory) => categories?.includes(category) ?? true
  const signals = injectionSignals.filter(
    ({ category, language }) =>
      looksFor(category) &&
      (language === undefined || languages === 'auto' || languages.includes(language)),
  )
  // A copy with the flags that a search for all matches needs keeps no place between two texts.
  const custom = (options.extraPatterns ?? []).map(
    ({ source, flags }) => new RegExp(source, `${flags.replace(/[gy]/g, '')}g`),
  )

  function matchesIn(original: string, depth: number): InjectionMatch[] {
    const normalized = normalizeText(original, {
      stripDiacritics: true,
      joinSpacedLetters: true,
      collapseWhitespace: true,
    })
    const search = new SignalSearch(normalized.text)
    const matches: InjectionMatch[] = []
    const add = (category: InjectionCategory, weight: number, start: number, end: number) => {
      matches.push({ category, weight, ...normalized.toOriginalSpan(start, end) })
    }
    for (const signal of signals) {
      const found = search.find(signal)
      if (found) add(signal.category, signal.weight, found.start, found.end)
    }
    for (const pattern of custom) {
      for (const { 0: match, index } of normalized.text.matchAll(pattern)) {
        if (match !== '') add('custom', 1, index, index + match.length)
      }
    }
    if (looksFor('hidden-text')) matches.push(...findHiddenText(original))
    if (looksFor('encoded') && depth > 0) matches.push(...encodedIn(original, depth))
    return matches
  }

  /** What is in code counts by what it says. */
  function encodedIn(original: string, depth: number): InjectionMatch[] {
    const found = findEncodedText(original)
    if (found.length === 0) return []
    let end = 0
    const ends = found.map(({ text }) => (end += text.length + 1))
    const said = found.map(({ text }) => text).join('\n')
    return matchesIn(said, depth - 1).map(({ weight, start }) => {
      const at = ends.findIndex((until) => start < until)
      return { category: 'encoded', weight, start: found[at]!.start, end: found[at]!.end }
    })
  }

  return (text) => {
    const matches = matchesIn(text, decodeDepth)
    const weights = new Map<InjectionCategory, number[]>()
    for (const { category, weight } of matches) {
      const known = weights.get(category) ?? []
      known.push(strict.includes(category) ? 1 : weight)
      weights.set(category, known)
    }
    let doubt = 1
    let category: InjectionCategory | undefined
    let least = 1
    for (const [name, all] of weights) {
      const left = countedOnce.includes(name)
        ? 1 - all.reduce((most, weight) => Math.max(most, weight))
        : all.reduce((product, weight) => product * (1 - weight), 1)
      doubt *= left
      if (left < least) [category, least] = [name, left]
    }
    return { score: 1 - doubt, category, matches }
  }
}

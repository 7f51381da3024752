import type { OptionRules } from '@lamella/core/authoring'
import { checkOptions } from '@lamella/core/authoring'
import { normalizeText, readMarkup } from '@lamella/text'
import { authoritySignals } from '../signals/authority-signals.ts'
import { findEncodedText } from './encoded-text.ts'
import type { InjectionMatch } from './hidden-text.ts'
import { findHiddenText } from './hidden-text.ts'
import type { InjectionCategory, InjectionSignal } from '../signals/injection-signal.ts'
import { latinClaims } from '../signals/latin-claims.ts'
import { latinOverrides } from '../signals/latin-overrides.ts'
import { leakSignals } from '../signals/leak-signals.ts'
import { otherAttempts } from '../signals/more-languages.ts'
import { otherScriptClaims } from '../signals/other-script-claims.ts'
import { otherScriptOverrides } from '../signals/other-script-overrides.ts'
import { overrideSignals } from '../signals/override-signals.ts'
import { personaSignals } from '../signals/persona-signals.ts'
import { resultSignals } from '../signals/result-signals.ts'
import { romanceClaims } from '../signals/romance-claims.ts'
import { mendWords } from './mended-words.ts'
import { SignalIndex } from './signal-index.ts'
import { SignalSearch } from './signal-search.ts'
import { weighMatches } from './weigh-matches.ts'

/** Assessment of a text by patterns. */
export interface InjectionAssessment {
  /** Certainty of an attack, from 0 to 1. */
  readonly score: number
  /** Category with the strongest signs; undefined without a sign. */
  readonly category?: InjectionCategory | undefined
  /** The signs. Offsets refer to the original text. */
  readonly matches: readonly InjectionMatch[]
}

/** Options of `injectionAssessor`. */
export interface AssessOptions {
  /**
   * Categories to look for.
   * @default all categories
   */
  readonly categories?: readonly InjectionCategory[] | undefined
  /**
   * Languages of the signs, such as `en` and `de`.
   * @default 'auto': all there are
   */
  readonly languages?: 'auto' | readonly string[] | undefined
  /**
   * Categories in which a single sign is enough, as in a plain list of forbidden words.
   * @default none
   */
  readonly strict?: readonly InjectionCategory[] | undefined
  /**
   * Source of the texts. In a `result` of a tool, orders that name an address or a recipient are signs as
   * well: what a user says so is an ordinary request.
   * @default 'input'
   */
  readonly source?: 'input' | 'result' | undefined
  /** Your own patterns; any match is enough. They must take linear time. */
  readonly extraPatterns?: readonly RegExp[] | undefined
  /**
   * Levels of base64, hex, percent and escape codes that are decoded.
   * @default 2
   */
  readonly decodeDepth?: number | undefined
}

export const injectionSignals: readonly InjectionSignal[] = [
  ...overrideSignals,
  ...leakSignals,
  ...authoritySignals,
  ...personaSignals,
  ...latinOverrides,
  ...otherScriptOverrides,
  ...romanceClaims,
  ...latinClaims,
  ...otherScriptClaims,
  ...otherAttempts,
]

/** The index of all signals, which takes some 20 ms; all assessors share it. */
let signalIndex: SignalIndex | undefined

export const assessRules: OptionRules<AssessOptions> = {
  categories: 'any',
  languages: 'any',
  strict: 'any',
  extraPatterns: 'any',
  source: ['input', 'result'],
  decodeDepth: 0,
}

/** Creates the function that finds signs of an attack in a text, in time linear in its length. */
export function injectionAssessor(
  options: AssessOptions = {},
): (text: string) => InjectionAssessment {
  checkOptions('injectionAssessor', options, assessRules)
  return assessorOf(options)
}

/** Does the same with checked options. */
export function assessorOf(options: AssessOptions): (text: string) => InjectionAssessment {
  const { categories, languages = 'auto', strict = [], decodeDepth = 2 } = options
  const looksFor = (category: InjectionCategory) => categories?.includes(category) ?? true
  const isResult = options.source === 'result'
  const wanted = new Set(
    [...injectionSignals, ...(isResult ? resultSignals : [])].filter(
      ({ category, language }) =>
        looksFor(category) &&
        (language === undefined || languages === 'auto' || languages.includes(language)),
    ),
  )
  const known = (signalIndex ??= new SignalIndex([...injectionSignals, ...resultSignals]))
  // A copy with the flags that a search for all matches needs keeps no place between two texts.
  const custom = (options.extraPatterns ?? []).map(
    ({ source, flags }) => new RegExp(source, `${flags.replace(/[gy]/g, '')}g`),
  )

  function matchesIn(original: string, depth: number): readonly InjectionMatch[][] {
    const normalized = normalizeText(original, {
      stripDiacritics: true,
      joinSpacedLetters: true,
      collapseWhitespace: true,
    })
    const common: InjectionMatch[] = []
    const matchAt = (category: InjectionCategory, weight: number, start: number, end: number) => ({
      category,
      weight,
      ...normalized.toOriginalSpan(start, end),
    })
    for (const pattern of custom) {
      for (const { 0: match, index } of normalized.text.matchAll(pattern)) {
        if (match !== '') common.push(matchAt('custom', 1, index, index + match.length))
      }
    }
    if (looksFor('hidden-text')) common.push(...findHiddenText(original))
    if (looksFor('encoded') && depth > 0) common.push(...encodedIn(original, depth))
    const whole = new SignalSearch(normalized.text)
    const possible = known
      .possibleIn(whole.text)
      .filter((signal) => wanted.has(signal) && whole.hasParts(signal))
    const windows = windowsOf(normalized.text).map(({ start: base, text }) => {
      if (possible.length === 0) return common
      const search = text === normalized.text ? whole : new SignalSearch(text)
      const found = possible.flatMap((signal) => {
        const at = search.find(signal)
        return at ? [matchAt(signal.category, signal.weight, base + at.start, base + at.end)] : []
      })
      return [...found, ...common]
    })
    // Emphasis and separators between words, which people and models read as blanks.
    const bare = original
      .replace(/[*_~]/g, ' ')
      .replace(chain, (words) => words.replace(/[^\p{L}]/gu, ' '))
    return bare === original ? windows : [...windows, ...matchesIn(bare, 0)]
  }

  /** Returns the signs in encoded text, as signs of the category `encoded`. */
  function encodedIn(original: string, depth: number): InjectionMatch[] {
    const found = findEncodedText(original)
    if (found.length === 0) return []
    let end = 0
    const ends = found.map(({ text }) => (end += text.length + 1))
    const said = found.map(({ text }) => text).join('\n')
    const matches = matchesIn(said, depth - 1).flat()
    return matches.map(({ weight, start }) => {
      const at = ends.findIndex((until) => start < until)
      return { category: 'encoded', weight, start: found[at]!.start, end: found[at]!.end }
    })
  }

  /** Repairs misspelled key words. */
  function mendedIn(text: string): readonly InjectionMatch[][] {
    const mended = mendWords(text)
    if (mended === undefined) return []
    return matchesIn(mended.text, 0).map((matches) =>
      matches.map((match) => ({
        ...match,
        start: mended.toOriginal(match.start),
        end: mended.toOriginal(match.end),
      })),
    )
  }

  /** Reads HTML as a browser shows it. */
  function shownIn(text: string): readonly InjectionMatch[][] {
    const shown = decodeDepth > 0 ? readMarkup(text) : undefined
    if (shown === undefined) return []
    return matchesIn(shown.text, 0).map((matches) =>
      matches.map((match) => ({ ...match, ...shown.toOriginalSpan(match.start, match.end) })),
    )
  }

  return (text) => {
    const read = [...matchesIn(text, decodeDepth), ...mendedIn(text), ...shownIn(text)]
    const windows = read.map((matches) => {
      return { matches, ...weighMatches(matches, strict) }
    })
    const worst = windows.reduce((one, other) => (other.score > one.score ? other : one))
    const { score, category } = worst
    const matches = windows.filter((one) => 2 * one.score >= score).flatMap((one) => one.matches)
    return { score, category, matches }
  }
}

/**
 * Four words or more with signs instead of spaces. Two or three are common: `--ignore-scripts`,
 * `e.g.`.
 */
const chain = /(?<!\p{L})\p{L}+(?:[.-]{1,3}\p{L}+){3,}/gu

// In a long document, unrelated signs would add up.
const windowChars = 6000
const stepChars = 4500

function windowsOf(text: string): readonly { readonly start: number; readonly text: string }[] {
  const count = 1 + Math.max(0, Math.ceil((text.length - windowChars) / stepChars))
  return Array.from({ length: count }, (_, at) => {
    const start = at * stepChars
    return { start, text: text.slice(start, start + windowChars) }
  })
}

import { checkOptions } from '@lamella/core/authoring'
import { matchesOf } from './matches-of.ts'

/** A possible find, before the words around it count. Offsets are in UTF-16 units. */
export interface Candidate {
  /** Index of the first unit. */
  readonly start: number
  /** Index behind the last unit. */
  readonly end: number
  /** Certainty by its form alone, from 0 to 1. */
  readonly score: number
}

/** Finds one kind of personal data. */
export interface Recognizer {
  /** Kind of the data, such as `email`. Also the name in placeholders. */
  readonly kind: string
  /** Words nearby that raise the certainty. @default none */
  readonly context?: RegExp | undefined
  /** Finds candidates. Must not read more than 60 characters before a candidate. */
  find(text: string, options: FindOptions): Iterable<Candidate>
  /**
   * Length of the longest match in UTF-16 units. Required for matches with white space that is not between
   * groups of digits.
   * @default none
   */
  readonly maxChars?: number | undefined
}

/** Options that recognizers receive. */
export interface FindOptions {
  /** Countries whose national formats count without further evidence. */
  readonly regions: readonly string[]
  /** Checks checksums. */
  readonly validate: boolean
}

/** Options of {@link patternRecognizer}. */
export interface PatternOptions {
  /** Kind of the data, such as `employee`. */
  readonly kind: string
  /** Pattern of the data. The flags `g` and `y` are ignored. */
  readonly pattern: RegExp
  /**
   * Certainty of a match by its form alone, from 0 to 1.
   * @default 0.8
   */
  readonly score?: number | undefined
  /**
   * Accepts or rejects a match, such as by its checksum, or returns its certainty. `before` is the text
   * directly before it, at most 48 characters.
   * @default every match counts
   */
  readonly check?: ((match: string, before: string) => boolean | number) | undefined
  /** Words nearby that raise the certainty. @default none */
  readonly context?: RegExp | undefined
  /** Length of the longest match in UTF-16 units, see `Recognizer.maxChars`. @default none */
  readonly maxChars?: number | undefined
}

/**
 * Creates a recognizer from a pattern. A group named `value` in the pattern is the find.
 * @throws TypeError for a pattern that is not a `RegExp`
 */
export function patternRecognizer(options: PatternOptions): Recognizer {
  checkOptions('patternRecognizer', options, {
    kind: 'string',
    pattern: 'any',
    score: 'any',
    check: 'function?',
    context: 'any',
    maxChars: 'any',
  })
  const { kind, score = 0.8, check, context, maxChars } = options
  // A copy: the caller's `lastIndex` and flags cannot make it loop or skip.
  const pattern = new RegExp(
    options.pattern.source,
    `${options.pattern.flags.replace(/[gyd]/g, '')}gd`,
  )
  return {
    kind,
    context,
    maxChars,
    find: (text, { validate }) => {
      const found: Candidate[] = []
      for (const match of matchesOf(text, pattern)) {
        const [start, end] = match.indices!.groups?.['value'] ?? match.indices![0]!
        if (start === end) continue
        const before = text.slice(Math.max(0, start - charsBefore), start)
        const checked = validate ? (check?.(text.slice(start, end), before) ?? true) : true
        if (checked !== false) found.push({ start, end, score: checked === true ? score : checked })
      }
      return found
    },
  }
}

const charsBefore = 48

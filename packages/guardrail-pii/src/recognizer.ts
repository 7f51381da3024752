import { checkOptions } from '@lamella/core/authoring'

/** A stretch that may be what is looked for, before the words around it are taken into account. */
export interface Candidate {
  /** Start index in the text. */
  readonly start: number
  /** End index in the text, exclusive. */
  readonly end: number
  /** How certain its form alone makes it, from 0 to 1. */
  readonly score: number
}

/** Finds one kind of personal data. */
export interface Recognizer {
  /** Kind of the data, such as `email`. It is also the name in placeholders. */
  readonly kind: string
  /** Words that make a candidate more certain where they stand near it. */
  readonly context?: RegExp | undefined
  /** Must not look further than 60 characters back from where a candidate begins. */
  find(text: string, options: FindOptions): Iterable<Candidate>
  /**
   * How many characters the longest match has. Only for matches that have white space in them which
   * does not stand between groups of digits.
   */
  readonly maxChars?: number | undefined
}

/** Options that recognizers are called with. */
export interface FindOptions {
  /** Countries whose national formats are read without more evidence. */
  readonly regions: readonly string[]
  /** Verifies checksums. */
  readonly validate: boolean
}

/** A kind that a pattern finds. */
export interface PatternOptions {
  /** Kind of the data, such as `employee_id`. */
  readonly kind: string
  /** Its flags `g` and `y` do not matter. */
  readonly pattern: RegExp
  /**
   * Certainty of a match by its form alone.
   * @default 0.8
   */
  readonly score?: number | undefined
  /**
   * Returns false for a match that is none, such as by its checksum, or how certain it is. `before` is the
   * text in front of it, at most 48 characters.
   * @default accepts all
   */
  readonly check?: ((match: string, before: string) => boolean | number) | undefined
  /** Words that make a match more certain where they are near it. @default none */
  readonly context?: RegExp | undefined
  /** Length of the longest match, if it may have white space in it. @default 64 */
  readonly maxChars?: number | undefined
}

/**
 * Makes a recognizer from a pattern. If the pattern has a group named `value`, that is what is found.
 * @throws TypeError for a pattern that is no `RegExp`
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
  // A copy: neither `lastIndex` of the caller's nor a missing flag can make it loop or skip.
  const pattern = new RegExp(
    options.pattern.source,
    `${options.pattern.flags.replace(/[gyd]/g, '')}gd`,
  )
  return {
    kind,
    context,
    maxChars,
    *find(text, { validate }) {
      for (const match of text.matchAll(pattern)) {
        const [start, end] = match.indices!.groups?.['value'] ?? match.indices![0]!
        if (start === end) continue
        const before = text.slice(Math.max(0, start - charsBefore), start)
        const checked = validate ? (check?.(text.slice(start, end), before) ?? true) : true
        if (checked === false) continue
        yield { start, end, score: checked === true ? score : checked }
      }
    },
  }
}

const charsBefore = 48

import type { DataContent, UriContent } from '@lamella/core'
import { LamellaError } from '@lamella/core'

/** What is to be moderated: a text, or an image. */
export type ModerationInput =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly image: DataContent | UriContent }

/** What a moderator says of one category. */
export interface ModerationScore {
  /** Whether the moderator itself would act. */
  readonly flagged: boolean
  /** From 0 to 1. */
  readonly score: number
}

/** Judges texts, and images if it says so: an endpoint, a classifier, anything. */
export interface Moderator {
  readonly name: string
  /**
   * Whether it judges images too.
   * @default false
   */
  readonly images?: boolean | undefined
  /** Scores by category. Rejects when it has no verdict; ends when the signal aborts. */
  readonly moderate: (
    input: ModerationInput,
    signal: AbortSignal,
  ) => Promise<Readonly<Record<string, ModerationScore>>>
}

/** The error of a moderator that gave no verdict. It holds nothing of what was to be judged. */
export function moderationFailed(moderator: string, what: string, cause?: unknown): LamellaError {
  return new LamellaError(`${moderator}: ${what}`, { code: 'moderation_failed', cause })
}

/** The higher score of each category. */
export function worstScores(
  all: readonly Readonly<Record<string, ModerationScore>>[],
): Record<string, ModerationScore> {
  const worst = new Map<string, ModerationScore>()
  for (const [category, { flagged, score }] of all.flatMap(Object.entries<ModerationScore>)) {
    const known = worst.get(category)
    worst.set(category, {
      flagged: flagged || known?.flagged === true,
      score: Math.max(score, known?.score ?? 0),
    })
  }
  return Object.fromEntries(worst)
}

/** Stretches of at most `maxChars` that overlap, so that a sentence at a border is read once whole. */
export function overlapping(text: string, maxChars: number): readonly string[] {
  const overlap = Math.min(200, maxChars >> 2)
  const stretches: string[] = []
  for (let start = 0; stretches.length === 0 || start + overlap < text.length; ) {
    const stretch = text.slice(start, start + maxChars)
    stretches.push(stretch)
    start += stretch.length - overlap
    if (stretch.length < maxChars) break
  }
  return stretches
}

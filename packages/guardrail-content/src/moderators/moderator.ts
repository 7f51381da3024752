import type { DataContent, RunContext, UriContent } from '@lamella/core'
import { LamellaError } from '@lamella/core'

/** Input of a moderator: a text or an image. */
export type ModerationInput =
  | {
      readonly type: 'text'
      /** The text. */
      readonly text: string
    }
  | {
      readonly type: 'image'
      /** The image, with its bytes or its address. */
      readonly image: DataContent | UriContent
    }

/** Score of one category. */
export interface ModerationScore {
  /** True if the moderator's own decision is to act. */
  readonly flagged: boolean
  /** Score from 0 to 1. */
  readonly score: number
}

/** Judge of texts, and of images if `images` is set: an endpoint, a classifier, or your own function. */
export interface Moderator {
  /** Name in errors. */
  readonly name: string
  /**
   * Judges images as well.
   * @default false
   */
  readonly images?: boolean | undefined
  /**
   * Resolves to scores by category. Rejects without a verdict, and when the signal aborts. `run` is the run
   * that the content belongs to.
   */
  readonly moderate: (
    input: ModerationInput,
    signal: AbortSignal,
    run?: RunContext,
  ) => Promise<Readonly<Record<string, ModerationScore>>>
}

/** Creates the error of a moderator without a verdict. It contains none of the judged content. */
export function moderationFailed(moderator: string, what: string, cause?: unknown): LamellaError {
  return new LamellaError(`${moderator}: ${what}`, { code: 'moderation_failed', cause })
}

/** Returns the highest score of each category. */
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

/** Splits a text into overlapping pieces of at most `maxChars`, so that a sentence at a border is whole in one. */
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

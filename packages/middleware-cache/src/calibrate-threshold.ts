import { checkOptions, wrongOption } from '@lamella/core/authoring'
import { sameFacts as sameFactsOf } from './same-facts.ts'
import type { SemanticOptions } from './semantic-options.ts'
import { similarity } from './vector-index.ts'

/** Two questions, and whether one answer would do for both. */
export interface QuestionPair {
  readonly questions: readonly [string, string]
  readonly same: boolean
}

export interface CalibrationOptions extends Pick<SemanticOptions, 'embed' | 'sameFacts'> {
  /** Real questions, some dozens of each kind at least; near ones that differ matter most. */
  readonly pairs: readonly QuestionPair[]
  /**
   * The share of different pairs that may pass for the same.
   * @default 0
   */
  readonly maxWrong?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Calibration {
  /** The lowest that keeps to `maxWrong`; 1 if none finds anything. */
  readonly threshold: number
  /** The share of same pairs that it finds. */
  readonly found: number
  /** The share of different pairs that it takes for the same. */
  readonly wrong: number
}

/**
 * Finds the `threshold` of a semantic cache for an embedding, on labelled pairs of questions.
 * @throws TypeError or RangeError that names the option and the value
 */
export async function calibrateThreshold(options: CalibrationOptions): Promise<Calibration> {
  checkOptions('calibrateThreshold', options, {
    pairs: 'any',
    embed: 'function',
    sameFacts: 'function?',
    maxWrong: 'any',
    signal: 'any',
  })
  const { pairs, embed, sameFacts = sameFactsOf, maxWrong = 0 } = options
  const { signal = new AbortController().signal } = options
  if (!(maxWrong >= 0 && maxWrong <= 1)) {
    throw wrongOption('calibrateThreshold', 'maxWrong', 'from 0 to 1', maxWrong)
  }
  const judged = { same: [] as number[], different: [] as number[] }
  for (const { questions, same } of pairs) {
    const [one, other] = questions
    const near = sameFacts(one, other)
      ? similarity(await embed(one, { signal }), await embed(other, { signal }))
      : Number.NEGATIVE_INFINITY
    judged[same ? 'same' : 'different'].push(near)
  }
  const at = (threshold: number): Calibration => ({
    threshold,
    found: shareFrom(threshold, judged.same),
    wrong: shareFrom(threshold, judged.different),
  })
  const candidates = judged.same.filter((near) => near > 0).toSorted((a, b) => a - b)
  const best = candidates
    .map((near) => at(Math.min(near, 1)))
    .find(({ wrong }) => wrong <= maxWrong)
  return best ?? at(1)
}

function shareFrom(threshold: number, values: readonly number[]): number {
  return values.filter((value) => value >= threshold).length / Math.max(1, values.length)
}

import { checkOptions, wrongOption } from '@lamella/core/authoring'
import { sameFacts as sameFactsOf } from './same-facts.ts'
import type { SemanticOptions } from './semantic-options.ts'
import { similarity } from './vector-index.ts'

/** Two questions, labelled with whether one answer fits both. */
export interface QuestionPair {
  /** The two questions. */
  readonly questions: readonly [string, string]
  /** True if one answer fits both. */
  readonly same: boolean
}

/** Options of `calibrateThreshold`. */
export interface CalibrationOptions extends Pick<SemanticOptions, 'embed' | 'sameFacts'> {
  /**
   * Real questions, some dozens of each label at least. Similar questions with different answers matter
   * most.
   */
  readonly pairs: readonly QuestionPair[]
  /**
   * Share of different pairs that may be matched by mistake, from 0 to 1.
   * @default 0
   */
  readonly maxWrong?: number | undefined
  /** Cancels the calls of `embed`. */
  readonly signal?: AbortSignal | undefined
}

/** Result of `calibrateThreshold`. */
export interface Calibration {
  /** Lowest threshold that respects `maxWrong`; 1 if no threshold finds a pair. */
  readonly threshold: number
  /** Share of same pairs that it matches, from 0 to 1. */
  readonly found: number
  /** Share of different pairs that it matches by mistake, from 0 to 1. */
  readonly wrong: number
}

/**
 * Finds the `threshold` of a semantic cache for an embedding from labelled pairs of questions.
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

import { checkOptions } from '@lamella/core/authoring'
import type { JudgeOptions } from './judge.ts'
import { judgeOf } from './judge.ts'
import { criteriaOf, judgeRules, verdictRules } from './llm-judge-options.ts'

/** A text, and whether it is to pass. */
export interface CalibrationCase {
  readonly text: string
  readonly passes: boolean
}

/** How well a judge does at a threshold, at telling the texts that are not to pass. */
export interface Calibration {
  readonly threshold: number
  /** Of those that it stops, the share that is to be stopped. 1 where it stops none. */
  readonly precision: number
  /** Of those that are to be stopped, the share that it stops. */
  readonly recall: number
  readonly f1: number
}

/**
 * Judges labelled texts, one after another, and says how well each threshold tells them apart, the best
 * one first. A text for which there is no verdict rejects.
 * @throws TypeError or RangeError that names the option and the value
 */
export async function calibrateJudge(
  options: JudgeOptions & { readonly signal?: AbortSignal | undefined },
  cases: readonly CalibrationCase[],
): Promise<readonly Calibration[]> {
  checkOptions('calibrateJudge', options, { ...judgeRules, ...verdictRules, signal: 'any' })
  const criteria = criteriaOf('calibrateJudge', options)
  const { signal } = options
  const judge = judgeOf({ ...options, threshold: 0 }, criteria)
  const scored: { readonly score: number; readonly passes: boolean }[] = []
  for (const { passes, text } of cases) {
    const { score } = await judge({ text }, (client, input, more) =>
      client.getResponse(input, { ...more, signal }),
    )
    scored.push({ score, passes })
  }
  const bad = scored.filter(({ passes }) => !passes).length
  const thresholds = Array.from({ length: 19 }, (_, at) => (at + 1) / 20)
  return thresholds
    .map((threshold) => {
      const stopped = scored.filter(({ score }) => score < threshold)
      const hits = stopped.filter(({ passes }) => !passes).length
      const precision = stopped.length === 0 ? 1 : hits / stopped.length
      const recall = bad === 0 ? 1 : hits / bad
      const f1 = precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall)
      return { threshold, precision, recall, f1 }
    })
    .toSorted((left, right) => right.f1 - left.f1)
}

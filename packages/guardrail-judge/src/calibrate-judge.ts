import { checkOptions } from '@lamella/core/authoring'
import type { JudgeOptions } from './judge.ts'
import { judgeOf } from './judge.ts'
import { criteriaOf, judgeRules, verdictRules } from './llm-judge-options.ts'

/** A labelled text. */
export interface CalibrationCase {
  /** Text that the judge reads. */
  readonly text: string
  /** True if the text should pass. */
  readonly passes: boolean
  /** Results of tools, for criteria with `sources`. @default none */
  readonly sources?: readonly string[] | undefined
}

/** Quality of a judge at one threshold, measured on the texts that should not pass. */
export interface Calibration {
  /** Lowest score that passes, 0 to 1. */
  readonly threshold: number
  /** Share of the stopped texts that should be stopped, 0 to 1. 1 if it stops none. */
  readonly precision: number
  /** Share of the texts that should be stopped which it stops, 0 to 1. */
  readonly recall: number
  /** Harmonic mean of precision and recall, 0 to 1. */
  readonly f1: number
}

/**
 * Judges labelled texts one after another and measures every threshold, best first. Rejects if a text gets
 * no verdict.
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
  const hasSources = criteria.some((criterion) => criterion.sources === true)
  for (const { passes, text, sources = [] } of cases) {
    const data = hasSources ? { text, sources } : { text }
    const { score } = await judge(data, (client, input, more) =>
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

import type { EvaluationCase } from './evaluation-case.ts'

/** Cases that were gathered from recorded runs. */
export interface GatheredCases {
  /** The cases, in the order of the runs. */
  readonly cases: readonly EvaluationCase[]
  /** Number of runs or events without content: nobody agreed to record it. */
  readonly skipped: number
}

/** Text in parts, such as a list of lines or a stream of them. */
export type Texts = Iterable<string> | AsyncIterable<string>

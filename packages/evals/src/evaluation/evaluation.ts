/**
 * `failed`: a run or a check failed, or a score is below its threshold. `worse`: a score fell against the
 * baseline. `undecided`: it looks like one of these, and with so few runs it may be noise. `passed`: none of them.
 */
export type Verdict = 'passed' | 'failed' | 'worse' | 'undecided'

/** A check over all runs. */
export interface CheckSummary {
  /** Name of the check. */
  readonly name: string
  /** Number of runs that it applied to. */
  readonly runs: number
  /** Number of runs that failed it. */
  readonly failed: number
}

/** A score over all runs. */
export interface ScoreSummary {
  /** Name of the score. */
  readonly name: string
  /** Mean of the cases' means, from 0 to 1. */
  readonly mean: number
  /** Lower end of the interval of the mean. */
  readonly low: number
  /** Upper end of the interval of the mean. */
  readonly high: number
  /** Number of runs that it applied to. */
  readonly runs: number
  /** Lowest mean that passes. Undefined without a threshold. */
  readonly threshold: number | undefined
  /** Comparison with the baseline. Undefined without one. */
  readonly baseline: ScoreComparison | undefined
  /** Verdict on this score. */
  readonly verdict: Verdict
}

/** A score against its baseline, over the cases that both have. */
export interface ScoreComparison {
  /** Mean of the baseline. */
  readonly mean: number
  /** Mean of the cases' differences; negative if the score fell. */
  readonly difference: number
  /** Probability of such a change, or a larger one in its direction, if nothing has changed. */
  readonly p: number
  /** Number of compared cases. */
  readonly cases: number
  /** `better` and `worse` are no noise at the chosen confidence. */
  readonly change: 'better' | 'worse' | 'none'
}

/** A case over its runs. */
export interface CaseSummary {
  /** Id of the case. */
  readonly id: string
  /** Number of runs. */
  readonly runs: number
  /** Number of runs that failed. */
  readonly failed: number
  /** Reasons of the failures, each once, at most 5. */
  readonly failures: readonly string[]
  /** Means of the scores, by name. */
  readonly scores: Readonly<Record<string, number>>
  /** The same case in the baseline. Undefined if it is not there, or has changed. */
  readonly before: Pick<CaseSummary, 'failed' | 'failures' | 'scores'> | undefined
}

/** Durations of runs in milliseconds. */
export interface Latency {
  /** Half of the runs took at most this. */
  readonly median: number
  /** 19 of 20 runs took at most this. */
  readonly p95: number
}

/** Result of an evaluation. */
export interface Evaluation {
  /** Name of the evaluation. */
  readonly name: string
  /** Verdict on the whole. */
  readonly verdict: Verdict
  /** Reasons of the verdict, as sentences. Empty if it passed. */
  readonly reasons: readonly string[]
  /** Number of finished runs. */
  readonly runs: number
  /** Set if the evaluation ended before its last run. */
  readonly ended: 'budget' | undefined
  /** Checks, in order. */
  readonly checks: readonly CheckSummary[]
  /** Scores, in order. */
  readonly scores: readonly ScoreSummary[]
  /** Cases, in order. */
  readonly cases: readonly CaseSummary[]
  /** Tokens of all runs. */
  readonly tokens: number
  /** US dollars of all runs. Undefined without `prices`. */
  readonly costUsd: number | undefined
  /** Milliseconds that the agent took for a run. */
  readonly latencyMs: Latency
}

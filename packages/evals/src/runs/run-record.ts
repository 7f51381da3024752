import type { EvaluatedRun } from './evaluated-run.ts'

/** One finished run as JSON: a line of the file of an evaluation. */
export interface RunRecord {
  /** Id of the case. */
  readonly case: string
  /** Number of the run: 0 for the first one of its case. */
  readonly run: number
  /** Hash of the case: a changed case is run again, and not compared with its baseline. */
  readonly digest: string
  /** Status of the run. */
  readonly status: EvaluatedRun['status']
  /** Names of the checks that applied, each with the reason of its failure, or `null` if it passed. */
  readonly checks: Readonly<Record<string, string | null>>
  /** Scores that applied, by name, from 0 to 1. */
  readonly scores: Readonly<Record<string, number>>
  /** Reason of the failure, if the run, a check or a score threw. */
  readonly error?: string | undefined
  /** Milliseconds that the agent took. */
  readonly elapsedMs: number
  /** Tokens of the run. */
  readonly tokens: number
  /** US dollars of the run. Undefined without `prices`. */
  readonly costUsd?: number | undefined
  /** First input of the user as text, cut off at 4,000 characters. */
  readonly input: string
  /** Answer, cut off at 4,000 characters. */
  readonly output: string
  /** Recording of the run for `pictureOf`, if it was kept. */
  readonly recording?: string | undefined
}

/** Runs of an evaluation, read one after another. */
export type RunRecords = Iterable<RunRecord> | AsyncIterable<RunRecord>

/** Returns the reasons for which a run failed: its error, and one for each check. */
export function failuresOf({ checks, error }: RunRecord): string[] {
  const failed = Object.entries(checks).filter(([, reason]) => reason !== null)
  return [
    ...(error === undefined ? [] : [error]),
    ...failed.map(([name, reason]) => `${name}: ${reason}`),
  ]
}

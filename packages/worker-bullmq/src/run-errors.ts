import { LamellaError } from '@lamella/core'

/** The error of a run that nobody added, or that was forgotten since. */
export function unknownRun(runId: string): LamellaError {
  return new LamellaError(`there is no run "${runId}"`, { code: 'run_unknown' })
}

/** The error of a write about a run that another worker has by now. */
export function takenOver(runId: string): LamellaError {
  return new LamellaError(`run "${runId}" was taken over by another worker`, {
    code: 'run_taken_over',
  })
}

/** Error of a run whose worker closed while Redis was unavailable. */
export function leftBehind(runId: string): LamellaError {
  return new LamellaError(
    `run "${runId}" was left to other workers: Redis was unavailable while this one closed`,
    { code: 'store_failed' },
  )
}

/** The error of a run whose workers keep dying. */
export function begunTooOften(runId: string, times: number): LamellaError {
  return new LamellaError(`run "${runId}" was started ${times} times and never ended`, {
    code: 'run_failed',
  })
}

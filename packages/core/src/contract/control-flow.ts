import { isAbort, LamellaError } from '../base/lamella-error.ts'
import type { PendingRequest, RunEnding, RunStatus } from './outcome.ts'
import type { BudgetExhausted, MiddlewareTermination } from './termination.ts'
import { isTermination } from './termination.ts'

/**
 * Returns true if a thrown value controls the run and is not a failure: a termination, a pause or
 * an abort. Never retry, cache, count or swallow it; a middleware that catches it rethrows it.
 */
export function isControlFlow(error: unknown, signal?: AbortSignal): boolean {
  return signal?.aborted === true || isTermination(error) || isPause(error) || isAbort(error)
}

/** Status of a call that ended with an error. */
export type MiddlewareExit =
  | Exclude<RunStatus, 'completed' | 'max_iterations'>
  | 'aborted'
  | 'failed'

/** Classifies an error thrown by `callNext()`: an intended end, an abort, or a failure. */
export function exitOf(error: unknown, signal?: AbortSignal): MiddlewareExit {
  if (LamellaError.is(error, 'guardrail_tripped')) return 'blocked'
  if (isTermination(error)) return endingOf(error).status as MiddlewareExit
  if (isPause(error)) return 'paused'
  return isControlFlow(error, signal) ? 'aborted' : 'failed'
}

export type Question = Extract<PendingRequest, { readonly kind: 'interrupt' }>

/**
 * Passes through all middleware to pause the run. A middleware that catches it must rethrow it.
 */
export class RunPaused extends LamellaError {
  /** Requests that the run waits for; none where it is cancelled at a safe point. */
  readonly requests: readonly PendingRequest[]

  constructor(requests: readonly PendingRequest[] = []) {
    super('the run is paused; middlewares must let this pass', { code: 'run_paused' })
    this.requests = requests
  }

  override get name(): string {
    return 'RunPaused'
  }
}

export function isPause(error: unknown): error is RunPaused {
  return LamellaError.is(error, 'run_paused')
}

/** Returns the status and reason of a run that ends with this termination. */
export function endingOf(error: MiddlewareTermination): RunEnding {
  return isBudgetExhausted(error)
    ? { status: 'budget_exhausted', reason: error.budget }
    : { status: 'terminated', reason: error.message }
}

function isBudgetExhausted(error: unknown): error is BudgetExhausted {
  return LamellaError.is(error, 'budget_exhausted')
}

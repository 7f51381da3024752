import type { PendingRequest, RunStatus } from './agent-response.ts'
import type { BudgetExhausted, MiddlewareTermination } from './termination.ts'
import { LamellaError } from './lamella-error.ts'

/** How a run ends, and why. */
export interface RunEnding {
  readonly status: RunStatus
  readonly reason?: string | undefined
  /** What a paused run waits for. */
  readonly pending?: readonly PendingRequest[] | undefined
}

/** What a termination that is no guard's makes of the run. */
export function endingOf(error: MiddlewareTermination): RunEnding {
  return isBudgetExhausted(error)
    ? { status: 'budget_exhausted', reason: error.budget }
    : { status: 'terminated', reason: error.message }
}

function isBudgetExhausted(error: unknown): error is BudgetExhausted {
  return LamellaError.is(error, 'budget_exhausted')
}

import type { Attempt } from './agent-response.ts'
import { LamellaError } from './lamella-error.ts'
import type { Message } from './message.ts'
import type { Run } from './run.ts'
import type { Usage } from './usage.ts'

/** What a run had come to when it failed. It is the `outcome` of the error. */
export interface FailedOutcome {
  readonly status: 'failed' | 'aborted' | 'blocked'
  readonly runId: string
  /** Messages of finished model and tool calls, and what had come of the one that failed. */
  readonly messages: readonly Message[]
  readonly usage: Usage
  /** Whether the provider did not report the usage of every call. */
  readonly usageEstimated: boolean
  readonly attempts: readonly Attempt[]
}

/**
 * Puts the outcome on the error, where it does not show when the error is printed. What a guard
 * blocked is not in it. Where layers transform what the run says (`isTransformed`), only what came
 * through those is.
 */
export function attachOutcome(error: unknown, run: Run, isTransformed = false): unknown {
  const isBlocked = LamellaError.is(error, 'guardrail_tripped')
  if (typeof error !== 'object' || error === null || !Object.isExtensible(error)) return error
  const partial = run.partial?.response().messages ?? []
  const isWhole = isTransformed || run.sink.outer !== undefined
  const outcome: FailedOutcome = {
    status: isBlocked ? 'blocked' : run.signal.aborted ? 'aborted' : 'failed',
    runId: run.id,
    messages: isBlocked ? [] : isWhole ? partial : [...run.messages.added, ...partial],
    usage: run.usage,
    usageEstimated: run.usageEstimated,
    attempts: run.attempts,
  }
  // An error of a run inside this one, or one that was thrown before, is now about this run.
  Object.defineProperty(error, 'outcome', { value: outcome, configurable: true })
  return error
}

/** What a run had come to, if `error` is how it failed. */
export function outcomeOf(error: unknown): FailedOutcome | undefined {
  return (error as { outcome?: FailedOutcome } | null | undefined)?.outcome
}

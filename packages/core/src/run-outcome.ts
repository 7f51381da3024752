import type { Attempt } from './agent-response.ts'
import type { Message } from './message.ts'
import type { Run } from './run.ts'
import type { Usage } from './usage.ts'

/** What a run had come to when it failed. It is the `outcome` of the error. */
export interface FailedOutcome {
  readonly status: 'failed' | 'aborted'
  readonly runId: string
  /** Messages of finished model and tool calls, and what had come of the one that failed. */
  readonly messages: readonly Message[]
  readonly usage: Usage
  /** Whether the provider did not report the usage of every call. */
  readonly usageEstimated: boolean
  readonly attempts: readonly Attempt[]
}

/** Puts the outcome on the error, where it does not show when the error is printed. */
export function attachOutcome(error: unknown, run: Run): unknown {
  if (typeof error !== 'object' || error === null || !Object.isExtensible(error)) return error
  if (Object.hasOwn(error, 'outcome')) return error
  const partial = run.partial?.response()
  const outcome: FailedOutcome = {
    status: run.signal.aborted ? 'aborted' : 'failed',
    runId: run.id,
    messages: [...run.messages.added, ...(partial?.messages ?? [])],
    usage: run.usage,
    usageEstimated: partial !== undefined && partial.usage.totalTokens === undefined,
    attempts: run.attempts,
  }
  Object.defineProperty(error, 'outcome', { value: outcome, configurable: true })
  return error
}

/** What a run had come to, if `error` is how it failed. */
export function outcomeOf(error: unknown): FailedOutcome | undefined {
  return (error as { outcome?: FailedOutcome } | null | undefined)?.outcome
}

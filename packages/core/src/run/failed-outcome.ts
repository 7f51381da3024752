import { LamellaError } from '../base/lamella-error.ts'
import type { Attempt, PendingRequest } from '../contract/outcome.ts'
import type { GuardrailTripped } from '../contract/termination.ts'
import type { Message } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import { hasNotEnded } from './journal.ts'
import type { Run } from './run.ts'

/** Partial outcome of a failed run, the `outcome` of its error. */
export interface FailedOutcome {
  /** How the run failed. */
  readonly status: 'failed' | 'aborted' | 'blocked'
  /** Id of the run. */
  readonly runId: string
  /** Messages of finished model and tool calls, and partial content of the one that failed. */
  readonly messages: readonly Message[]
  /** Tokens used until the failure. */
  readonly usage: Usage
  /** True if a provider did not report the usage of every call. */
  readonly usageEstimated: boolean
  /** Recorded attempts of model calls. */
  readonly attempts: readonly Attempt[]
  /** Requests of the checkpoint that the run continued, if it failed before any effect: they stay open. */
  readonly pending: readonly PendingRequest[]
}

/**
 * Adds the outcome to the error as a property that is not enumerable. It contains no blocked
 * content: of a blocked run, the tool rounds that had an effect. If middleware transforms the run's updates
 * (`isTransformed`), it contains transformed content, and which calls did not end.
 */
export function attachOutcome(error: unknown, run: Run, isTransformed = false): unknown {
  const isBlocked = LamellaError.is(error, 'guardrail_tripped')
  if (isBlocked) run.withhold((error as GuardrailTripped).block)
  if (!Object.isExtensible(error)) return error
  const partial = run.partial?.response().messages ?? []
  const isWhole = isTransformed || run.sink.outer !== undefined
  const outcome: FailedOutcome = {
    status: isBlocked ? 'blocked' : run.signal.aborted ? 'aborted' : 'failed',
    runId: run.id,
    messages: isBlocked
      ? run.journal.effects
      : isWhole
        ? [...partial, ...unendedCalls(run, partial)]
        : [...run.messages.added, ...partial],
    usage: run.usage,
    usageEstimated: run.usageEstimated,
    attempts: run.attempts,
    pending: LamellaError.is(error, 'approval_used') ? [] : run.journal.open,
  }
  // An error of a run inside this one, or one that was thrown before, is now about this run.
  Object.defineProperty(error as object, 'outcome', { value: outcome, configurable: true })
  return error
}

/** Results that a run gave the calls that did not end, unless `partial` has them. They are the same for every reader. */
function unendedCalls(run: Run, partial: readonly Message[]): readonly Message[] {
  const known = new Set(partial.map(({ id }) => id))
  return run.messages.added.filter(
    ({ id, role, contents }) =>
      role === 'tool' &&
      !known.has(id) &&
      contents.every((content) => content.type === 'function-result' && hasNotEnded(content)),
  )
}

/** Returns the partial outcome of the run that failed with `error`. */
export function outcomeOf(error: unknown): FailedOutcome | undefined {
  return (error as { outcome?: FailedOutcome } | null | undefined)?.outcome
}

import { LamellaError } from '../base/lamella-error.ts'
import type { ChatOptions } from '../contract/chat-options.ts'
import type { ChatClient } from '../contract/chat.ts'
import type { Attempt } from '../contract/outcome.ts'
import { isProviderError } from '../contract/provider-error.ts'

/** Makes the record of an attempt for `run.recordAttempt`: of an error with the usage that it reports. */
export function attemptOf(
  { client, options }: { readonly client: ChatClient; readonly options: ChatOptions },
  outcome: Pick<Attempt, 'status' | 'reason' | 'usage'> | { readonly error: unknown },
): Omit<Attempt, 'iteration'> {
  const model = options.model ?? client.model
  const { status, reason, usage } = 'error' in outcome ? failed(outcome.error) : outcome
  return {
    provider: client.provider,
    ...(client.name !== undefined && { client: client.name }),
    ...(model !== undefined && { model }),
    status,
    ...(reason !== undefined && { reason }),
    ...(usage !== undefined && { usage }),
  }
}

function failed(error: unknown): Pick<Attempt, 'status' | 'reason' | 'usage'> {
  const usage = isProviderError(error) ? error.partial?.usage : undefined
  return { status: 'failed', reason: failureReason(error), usage }
}

/**
 * Kind of a provider's error, code of another Lamella error, or `error`. Contains no message text.
 */
export function failureReason(error: unknown): string {
  if (isProviderError(error)) return error.kind
  return LamellaError.is(error) ? error.code : 'error'
}

/**
 * Name for the kind of a failure, without message text: as `failureReason`, but the class name for
 * other errors, and `_OTHER` (as in OpenTelemetry) for values without one.
 */
export function errorType(error: unknown): string {
  if (LamellaError.is(error)) return failureReason(error)
  const name = (error as { name?: unknown } | null | undefined)?.name
  return typeof name === 'string' && /^[\w$.]{1,64}$/.test(name) ? name : '_OTHER'
}

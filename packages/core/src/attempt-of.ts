import type { Attempt } from './agent-response.ts'
import type { ChatClient } from './chat-client.ts'
import type { ChatOptions } from './chat-options.ts'
import { LamellaError } from './lamella-error.ts'
import { isProviderError } from './provider-error.ts'

/** What `run.recordAttempt` is told of a try of a model call. */
export function attemptOf(
  { client, options }: { readonly client: ChatClient; readonly options: ChatOptions },
  outcome: Pick<Attempt, 'status' | 'reason' | 'usage'>,
): Omit<Attempt, 'iteration'> {
  const model = options.model ?? client.model
  const { status, reason, usage } = outcome
  return {
    provider: client.provider,
    ...(model !== undefined && { model }),
    status,
    ...(reason !== undefined && { reason }),
    ...(usage !== undefined && { usage }),
  }
}

/** The same of a try that failed, with the usage that the error tells of. */
export function failedAttempt(
  call: Parameters<typeof attemptOf>[0],
  error: unknown,
): Omit<Attempt, 'iteration'> {
  const usage = isProviderError(error) ? error.partial?.usage : undefined
  return attemptOf(call, { status: 'failed', reason: failureReason(error), usage })
}

/** The kind of a provider's error, else the code of one of ours, else `error`. No text of it. */
export function failureReason(error: unknown): string {
  if (isProviderError(error)) return error.kind
  return LamellaError.is(error) ? error.code : 'error'
}

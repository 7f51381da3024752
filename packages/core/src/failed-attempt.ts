import type { Attempt } from './agent-response.ts'
import type { ChatClient } from './chat-client.ts'
import type { ChatOptions } from './chat-options.ts'
import { LamellaError } from './lamella-error.ts'
import { isProviderError } from './provider-error.ts'

/** What `run.recordAttempt` is told of a model call that failed. */
export function failedAttempt(
  { client, options }: { readonly client: ChatClient; readonly options: ChatOptions },
  error: unknown,
): Omit<Attempt, 'iteration'> {
  const model = options.model ?? client.model
  const usage = isProviderError(error) ? error.partial?.usage : undefined
  return {
    provider: client.provider,
    ...(model !== undefined && { model }),
    status: 'failed',
    reason: failureReason(error),
    ...(usage !== undefined && { usage }),
  }
}

/** The kind of a provider's error, else the code of one of ours, else `error`. No text of it. */
export function failureReason(error: unknown): string {
  if (isProviderError(error)) return error.kind
  return LamellaError.is(error) ? error.code : 'error'
}

import type { ProviderErrorKind } from '@lamella/core'
import { ProviderError } from '@lamella/core'
import { retryAfterHeaderMs } from '@lamella/transport'

const provider = 'your-provider'

const kinds: Readonly<Record<number, ProviderErrorKind>> = {
  400: 'invalid_request',
  401: 'auth',
  403: 'auth',
  404: 'not_found',
  429: 'rate_limit',
  503: 'overloaded',
}

/** Creates the error for an HTTP status. Middleware such as `retry()` only reads `kind` and `retry`. */
export function statusError(status: number, headers: Headers): ProviderError {
  const kind = kinds[status] ?? (status < 500 ? 'invalid_request' : 'server')
  const afterMs = retryAfterHeaderMs(headers)
  return new ProviderError(`the provider answered with status ${status}`, {
    kind,
    provider,
    status,
    ...(afterMs !== undefined && { retry: { afterMs } }),
  })
}

/** Creates the error for a connection that failed or broke. */
export function networkError(cause: unknown): ProviderError {
  if (cause instanceof ProviderError) return cause
  return new ProviderError('the connection to the provider broke', {
    kind: 'network',
    provider,
    cause,
  })
}

/** Creates the error for an answer that was cut off. */
export function cutShort(): ProviderError {
  const problem = 'the answer of the provider ended too early'
  return new ProviderError(problem, { kind: 'truncated_stream', provider })
}

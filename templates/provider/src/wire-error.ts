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

/** The error for a status. Middleware such as retry reads `kind` and `retry`, and nothing else. */
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

/** The connection could not be made, or broke. */
export function networkError(cause: unknown): ProviderError {
  if (cause instanceof ProviderError) return cause
  return new ProviderError('the connection to the provider broke', {
    kind: 'network',
    provider,
    cause,
  })
}

/** An answer without its end. */
export function cutShort(): ProviderError {
  const problem = 'the answer of the provider ended too early'
  return new ProviderError(problem, { kind: 'truncated_stream', provider })
}

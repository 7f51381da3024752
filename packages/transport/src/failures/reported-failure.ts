import type { ProviderErrorKind } from '@lamella/core'
import { isProviderError, ProviderError } from '@lamella/core'
import { defined, unlessEmpty } from '../wire/wire.ts'
import { isHeaderValue, unfitForHeader } from './header-value.ts'
import { isNetworkError, isNetworkTimeout, isUnsendable } from './network-error.ts'
import type { FailureContext } from './provider-failure.ts'
import { failurePhrases, providerFailure } from './provider-failure.ts'
import { providerWords } from './provider-words.ts'
import type { HeaderReader } from './retry-after.ts'
import { HttpFailure, InBandFailure, TransportFault } from './transport-fault.ts'

/** Kind of a failure, and if a retry may help where that differs from the rule of the kind. */
export interface FailureVerdict {
  /** Kind of the failure. */
  readonly kind: ProviderErrorKind
  /** True or false if it differs from the rule of the kind. */
  readonly retryable?: boolean | undefined
}

/** Verdicts by status, where all providers agree. */
export const statusVerdicts: Readonly<Record<number, FailureVerdict>> = {
  401: { kind: 'auth' },
  402: { kind: 'quota' },
  403: { kind: 'auth' },
  404: { kind: 'not_found' },
  408: { kind: 'timeout' },
  409: { kind: 'server' },
  429: { kind: 'rate_limit' },
  498: { kind: 'overloaded' },
  // A gateway closed the request before it was answered.
  499: { kind: 'network' },
  501: { kind: 'server', retryable: false },
  503: { kind: 'overloaded' },
  504: { kind: 'timeout' },
  505: { kind: 'server', retryable: false },
  524: { kind: 'timeout' },
  529: { kind: 'overloaded' },
}

/** Verdict of a status alone. Without one, the provider failed inside an answer. */
export function verdictOfStatus(status: number | undefined): FailureVerdict {
  if (status === undefined) return { kind: 'server' }
  return statusVerdicts[status] ?? { kind: status >= 500 ? 'server' : 'invalid_request' }
}

/** Failure that a provider reports, as a client has read it. */
export interface ReportedFailure extends FailureVerdict {
  /** Status of the answer, if it has that of a failure. */
  readonly status: number | undefined
  /** Headers of the answer. `x-should-retry` overrides `retryable`, except for a quota. */
  readonly headers: HeaderReader | undefined
  /** Names for the message besides the status, such as a code. They must not quote the request. */
  readonly names: readonly (string | undefined)[]
  /** Words of the provider. They become the cause, without keys and quotes of the conversation. */
  readonly message: string | undefined
  /** Milliseconds that the provider asks to wait. */
  readonly afterMs: number | undefined
  /** The server's name for the request. */
  readonly requestId: string | undefined
  /** Facts for `error.details`. @default none */
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** Makes the error for a failure that a provider reports. */
export function reportedFailure(
  {
    kind,
    retryable,
    status,
    headers,
    names,
    message,
    afterMs,
    requestId,
    details,
  }: ReportedFailure,
  { provider, replay, confidential, partial }: FailureContext,
): ProviderError {
  const advice = kind === 'quota' ? undefined : headers?.get('x-should-retry')
  const isAdvised = advice === 'true' || advice === 'false'
  const shown = [status, ...names].filter(
    (name, at) => name !== undefined && (at === 0 || `${name}` !== `${status}`),
  )
  return new ProviderError(
    `${provider}: ${failurePhrases[kind]}${shown.length > 0 ? ` (${shown.join(', ')})` : ''}`,
    {
      kind,
      provider,
      status,
      retry: defined({
        retryable: isAdvised ? advice === 'true' : retryable,
        afterMs,
        replay: status !== undefined && status < 500 && status !== 408 ? 'safe' : replay,
      }),
      requestId,
      partial,
      details: details && unlessEmpty(details),
      cause: message ? new Error(providerWords(message, confidential)) : undefined,
    },
  )
}

/**
 * Makes a `ProviderError` of what a call raised. `reported` makes the one for a failure that the provider
 * reports. Errors that are neither the provider's nor the network's stay as they are.
 */
export function transportError<Context extends FailureContext>(
  error: unknown,
  context: Context,
  reported: (
    report: unknown,
    status: number | undefined,
    headers: HeaderReader | undefined,
    context: Context,
  ) => ProviderError,
): unknown {
  if (isProviderError(error)) return error
  if (isUnsendable(error instanceof TransportFault ? error.cause : error))
    return unsendable(context)
  if (error instanceof TransportFault) return providerFailure(error.kind, context, error)
  if (error instanceof InBandFailure)
    return reported(error.report, undefined, context.headers, context)
  if (error instanceof HttpFailure) {
    return reported(error.report, error.status, error.headers, context)
  }
  if (!isNetworkError(error)) return error
  const kind = isNetworkTimeout(error) ? 'timeout' : 'network'
  return providerFailure(kind, context, { cause: error })
}

/** Without the cause: its message quotes the header or the address. */
function unsendable(failure: FailureContext): ProviderError {
  const context: FailureContext = { ...failure, replay: 'safe' }
  if (!failure.confidential.keys().every(isHeaderValue)) {
    return providerFailure('auth', context, { words: `the API key ${unfitForHeader}` })
  }
  const words = 'the request cannot be sent: its address or one of its headers is not valid'
  return providerFailure('invalid_request', context, { words })
}

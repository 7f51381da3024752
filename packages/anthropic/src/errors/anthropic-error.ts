import { isProviderError, ProviderError } from '@lamella/core'
import type { FailureContext, HeaderReader } from '@lamella/core/transport'
import {
  failurePhrases,
  InBandFailure,
  isInstance,
  isNetworkError,
  isNetworkTimeout,
  providerFailure,
  providerWords,
  recordOf,
  reportWords,
  safeName,
  stringOf,
  TransportFault,
} from '@lamella/core/transport'
import { AnthropicError, APIConnectionError, APIConnectionTimeoutError } from '@anthropic-ai/sdk'
import type { ErrorFacts } from './error-kind.ts'
import { kindOf } from './error-kind.ts'
import { rateLimitInfo } from './rate-limit-info.ts'
import { retryAfterMs } from './retry-after.ts'

/** Makes a `ProviderError` of what the SDK or the network raised. What is neither stays as it is. */
export function toProviderError(error: unknown, context: FailureContext): unknown {
  if (isProviderError(error)) return error
  if (error instanceof TransportFault) return providerFailure(error.kind, context, error)
  if (error instanceof InBandFailure) {
    return reported(error.report, undefined, context.headers, context)
  }
  const { status, headers, error: report, message } = recordOf(error)
  if (typeof status === 'number' && isInstance(error, AnthropicError)) {
    return reported(report ?? bodyText(message), status, headers as HeaderReader, context)
  }
  if (isInstance(error, APIConnectionTimeoutError))
    return providerFailure('timeout', context, { cause: error })
  if (isInstance(error, APIConnectionError) || isNetworkError(error)) {
    return providerFailure(isNetworkTimeout(error) ? 'timeout' : 'network', context, {
      cause: error,
    })
  }
  // What is left of the SDK's errors are credentials that could not be had.
  if (isInstance(error, AnthropicError)) return providerFailure('auth', context)
  return error
}

function reported(
  report: unknown,
  status: number | undefined,
  headers: HeaderReader | undefined,
  { provider, replay, confidential, partial }: FailureContext,
): ProviderError {
  const facts = factsOf(report)
  const { type, code, message } = facts
  const { kind, retryable } = kindOf(facts, status)
  const advice = kind === 'quota' ? null : (headers?.get('x-should-retry') ?? null)
  const afterMs = retryAfterMs(headers, kind === 'rate_limit')
  const shown = [status, code ?? type].filter((part) => part !== undefined)
  const rateLimit = rateLimitInfo(headers)
  const details = {
    ...(type && { type }),
    ...(code && { code }),
    ...(rateLimit && { rateLimit }),
  }
  return new ProviderError(
    `${provider}: ${failurePhrases[kind]}${shown.length > 0 ? ` (${shown.join(', ')})` : ''}`,
    {
      kind,
      provider,
      status,
      retry: {
        ...(advice === 'true' || advice === 'false'
          ? { retryable: advice === 'true' }
          : retryable !== undefined && { retryable }),
        ...(afterMs !== undefined && { afterMs }),
        replay: status !== undefined && status < 500 && status !== 408 ? 'safe' : replay,
      },
      requestId: headers?.get('request-id') ?? stringOf(recordOf(report)['request_id']),
      partial,
      details: Object.keys(details).length > 0 ? { ...details, ...tokensIn(message) } : undefined,
      ...(message && { cause: new Error(providerWords(message, confidential)) }),
    },
  )
}

function factsOf(report: unknown): ErrorFacts {
  if (typeof report === 'string') return { message: report }
  if (Array.isArray(report)) return factsOf(report[0] ?? {})
  const { error, type, details } = recordOf(report)
  // Gateways say `{ error: 'words' }` or `{ message }`.
  if (typeof error === 'string') return { message: error }
  if (error != null) return factsOf(error)
  const name = safeName(type)
  const code = safeName(recordOf(details)['error_code'])
  const words = reportWords(report)
  return {
    ...(name && name !== 'error' && { type: name }),
    ...(code && { code }),
    ...(words && { message: words }),
  }
}

/** Such as `prompt is too long: 215000 tokens > 200000 maximum`. */
function tokensIn(message = ''): Readonly<Record<string, number>> {
  const [, got, limit] = /(\d+) tokens > (\d+) maximum/.exec(message) ?? []
  return limit === undefined ? {} : { limitTokens: Number(limit), requestedTokens: Number(got) }
}

/** The body of an error that is no JSON, which the SDK puts behind the status. */
function bodyText(message: unknown): string | undefined {
  const text = stringOf(message)?.replace(/^\d{3} /, '')
  return text === 'status code (no body)' ? undefined : text
}

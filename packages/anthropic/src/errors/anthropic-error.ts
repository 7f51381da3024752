import type { ProviderError } from '@lamella/core'
import type { FailureContext, HeaderReader } from '@lamella/transport'
import {
  readRateLimits,
  recordOf,
  reportedFailure,
  reportWords,
  safeName,
  stringOf,
  transportError,
} from '@lamella/transport'
import type { ErrorFacts } from './error-kind.ts'
import { kindOf } from './error-kind.ts'
import { rateLimitHeaders } from './rate-limit-headers.ts'
import { retryAfterMs } from './retry-after.ts'

/** Makes a `ProviderError` of what a call raised. What is neither Anthropic's nor the network's stays. */
export function toProviderError(error: unknown, context: FailureContext): unknown {
  return transportError(error, context, reported)
}

function reported(
  report: unknown,
  status: number | undefined,
  headers: HeaderReader | undefined,
  context: FailureContext,
): ProviderError {
  const facts = factsOf(report)
  const { type, code, message } = facts
  const verdict = kindOf(facts, status)
  const rateLimit = readRateLimits(rateLimitHeaders, headers)
  const failure = {
    ...verdict,
    status,
    headers,
    names: [code ?? type],
    message,
    afterMs: retryAfterMs(headers, verdict.kind === 'rate_limit'),
    requestId: headers?.get('request-id') ?? stringOf(recordOf(report)['request_id']),
    details: {
      ...(type && { type }),
      ...(code && { code }),
      ...(rateLimit && { rateLimit }),
      ...tokensIn(message),
    },
  }
  return reportedFailure(failure, context)
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

import { isProviderError, ProviderError } from '@lamella/core'
import type { FailureContext, HeaderReader } from '@lamella/core/transport'
import {
  failurePhrases,
  InBandFailure,
  isHeaderValue,
  isInstance,
  isNetworkError,
  isNetworkTimeout,
  listOf,
  providerFailure,
  providerWords,
  recordOf,
  reportWords,
  safeName,
  stringOf,
  TransportFault,
  unfitForHeader,
} from '@lamella/core/transport'
import { APIConnectionError, APIConnectionTimeoutError, OpenAIError } from 'openai'
import type { ErrorCodes, ErrorFacts } from './error-kind.ts'
import { kindOfReport, kindOfStatus } from './error-kind.ts'
import { rateLimitInfo } from './rate-limit-info.ts'
import { retryAfterMs } from './retry-after.ts'

/** Context of a call that failed, with the server's own codes. */
export interface OpenAIFailure extends FailureContext {
  readonly errorCodes: ErrorCodes
}

/** Makes a `ProviderError` of what the SDK or the network raised. What is neither stays as it is. */
export function toProviderError(error: unknown, context: OpenAIFailure): unknown {
  if (isProviderError(error)) return error
  if (error instanceof TransportFault) return providerFailure(error.kind, context, error)
  if (error instanceof InBandFailure) {
    return reported(error.report, undefined, context.headers, context)
  }
  const { status, headers, error: report, message } = recordOf(error)
  if (typeof status === 'number' && isInstance(error, OpenAIError)) {
    return reported(report ?? bodyText(message), status, headers as HeaderReader, context)
  }
  if (isInstance(error, APIConnectionTimeoutError))
    return providerFailure('timeout', context, { cause: error })
  if (neverPasses(error)) return unsendable(context)
  if (isInstance(error, APIConnectionError) || isNetworkError(error)) {
    return providerFailure(isNetworkTimeout(error) ? 'timeout' : 'network', context, {
      cause: error,
    })
  }
  // What is left of the SDK's errors are credentials that could not be had.
  if (isInstance(error, OpenAIError)) {
    const { cause } = recordOf(error)
    return isProviderError(cause) ? cause : providerFailure('auth', context)
  }
  return error
}

/**
 * Like `toProviderError`, for what was raised before there was an answer: what neither the SDK nor
 * the network explains is a header or an address that cannot be sent.
 */
export function toRequestError(error: unknown, context: OpenAIFailure): unknown {
  const known = toProviderError(error, context)
  return isProviderError(known) ? known : unsendable(context)
}

/** Without the cause: its message quotes the header or the address. */
function unsendable(failure: FailureContext): ProviderError {
  const context: FailureContext = { ...failure, replay: 'safe' }
  if (!failure.confidential.keys.every(isHeaderValue)) {
    return providerFailure('auth', context, { words: `the API key ${unfitForHeader}` })
  }
  const words = 'the request cannot be sent: its address or one of its headers is not valid'
  return providerFailure('invalid_request', context, { words })
}

function reported(
  report: unknown,
  httpStatus: number | undefined,
  headers: HeaderReader | undefined,
  { provider, replay, confidential, partial, errorCodes }: OpenAIFailure,
): ProviderError {
  const facts = factsOf(report)
  // Routers report the status of the provider behind them as the code of an error inside a 200.
  const status =
    httpStatus ?? (/^[45]\d\d$/.test(facts.code ?? '') ? Number(facts.code) : undefined)
  const { kind, retryable } = kindOfReport(facts, status, errorCodes) ?? kindOfStatus(status)
  const advice = kind === 'quota' ? null : (headers?.get('x-should-retry') ?? null)
  const afterMs = retryAfterMs(headers, { rateLimited: kind === 'rate_limit', ...facts })
  const { code, type, param, message } = facts
  const shown = [status, safeName(code) ?? safeName(type), param && `param ${param}`]
  const known = shown.filter(
    (part, at) => part !== undefined && (at === 0 || `${part}` !== `${status}`),
  )
  return new ProviderError(
    `${provider}: ${failurePhrases[kind]}${known.length > 0 ? ` (${known.join(', ')})` : ''}`,
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
      requestId: requestIdIn(headers),
      partial,
      details: detailsOf(report, facts, headers),
      ...(message && { cause: new Error(providerWords(message, confidential)) }),
    },
  )
}

function factsOf(report: unknown): ErrorFacts {
  if (typeof report === 'string') return { message: report }
  // Google wraps the report into a list.
  if (Array.isArray(report)) return factsOf(report[0] ?? {})
  const { code, type, param, message, status, error } = recordOf(report)
  if (message === undefined && code === undefined && error !== undefined) return factsOf(error)
  const words = reportWords(report)
  const retryDelay = retryDelayIn(recordOf(report)['details'])
  const innerCode = recordOf(recordOf(report)['innererror'])['code']
  const shownCode = code ?? innerCode ?? (type === undefined ? status : undefined)
  return {
    ...(isName(shownCode) && { code: String(shownCode) }),
    ...(typeof type === 'string' && { type }),
    ...(typeof param === 'string' && /^[\w.[\]-]{1,64}$/.test(param) && { param }),
    ...(words !== undefined && { message: words }),
    ...(retryDelay !== undefined && { retryDelay }),
  }
}

/** https://cloud.google.com/apis/design/errors#error_info, 2026-11. */
function retryDelayIn(details: unknown): string | undefined {
  const info = listOf(details).find((each) =>
    String(recordOf(each)['@type']).endsWith('.RetryInfo'),
  )
  return stringOf(recordOf(info)['retryDelay'])
}

function detailsOf(
  report: unknown,
  facts: ErrorFacts,
  headers: HeaderReader | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const rateLimit = rateLimitInfo(headers)
  const { code, type, param, message } = facts
  const { innererror, content_filter_result: direct, content_filters: list } = recordOf(report)
  const { content_filter_result: inner, content_filter_results: all } = recordOf(innererror)
  const contentFilter = inner ?? all ?? direct ?? list
  const { n_ctx: size, n_prompt_tokens: prompt } = recordOf(report)
  const [, limit = size, got = prompt] =
    /maximum context length is (\d+) tokens\D+?(\d+) tokens/.exec(message ?? '') ?? []
  const details = {
    ...(safeName(code) && { code }),
    ...(safeName(type) && { type }),
    ...(param && { param }),
    ...(contentFilter !== undefined && { contentFilter }),
    ...(rateLimit && { rateLimit }),
    ...(Number(limit) > 0 && { limitTokens: Number(limit), requestedTokens: Number(got) }),
  }
  return Object.keys(details).length > 0 ? details : undefined
}

/** The body of an error that is no JSON, which the SDK puts behind the status. */
function bodyText(message: unknown): string | undefined {
  const text = stringOf(message)?.replace(/^\d{3} /, '')
  return text === 'status code (no body)' ? undefined : text
}

/** Returns the server's name for the request. */
export function requestIdIn(headers: HeaderReader | undefined): string | undefined {
  for (const name of ['x-request-id', 'apim-request-id', 'request-id']) {
    const id = headers?.get(name)
    if (id) return id
  }
  return undefined
}

// Of Node's fetch, which knows these reasons by their words only. A port may be one that it never calls.
const refusals =
  /^(bad port|unknown scheme|not implemented|invalid url|failed to parse url|request cannot be constructed|url scheme must be)|\b(invalid header value|ByteString)\b/i

/** Tells if `fetch` refused to send the request and always will. */
function neverPasses(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (refusals.test(at.message) || /^ERR_INVALID_(URL|CHAR)/.test(String(recordOf(at)['code']))) {
      return true
    }
  }
  return false
}

function isName(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && value !== '')
}

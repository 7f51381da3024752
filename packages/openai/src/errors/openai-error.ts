import type { ProviderError } from '@lamella/core'
import { isProviderError } from '@lamella/core'
import type { FailureContext, HeaderReader } from '@lamella/core/transport'
import {
  isHeaderValue,
  listOf,
  providerFailure,
  readRateLimits,
  recordOf,
  reportedFailure,
  reportWords,
  safeName,
  stringOf,
  transportError,
  TransportFault,
  unfitForHeader,
  verdictOfStatus,
} from '@lamella/core/transport'
import type { ErrorCodes, ErrorFacts } from './error-kind.ts'
import { kindOfReport } from './error-kind.ts'
import { rateLimitHeaders } from './rate-limit-headers.ts'
import { retryAfterMs } from './retry-after.ts'

/** Context of a call that failed, with the server's own codes. */
export interface OpenAIFailure extends FailureContext {
  readonly errorCodes: ErrorCodes
}

/** Makes a `ProviderError` of what a call raised. What is neither the provider's nor the network's stays. */
export function toProviderError(error: unknown, context: OpenAIFailure): unknown {
  if (neverPasses(error instanceof TransportFault ? error.cause : error)) return unsendable(context)
  return transportError(error, context, (report, status, headers) =>
    reported(report, status, headers, context),
  )
}

/**
 * Like `toProviderError`, for what was raised before there was an answer: what the network
 * does not explain is a header or an address that cannot be sent.
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
  context: OpenAIFailure,
): ProviderError {
  const facts = factsOf(report)
  const { code, type, param, message } = facts
  // Routers report the status of the provider behind them as the code of an error inside a 200.
  const status = httpStatus ?? (/^[45]\d\d$/.test(code ?? '') ? Number(code) : undefined)
  const verdict = kindOfReport(facts, status, context.errorCodes) ?? verdictOfStatus(status)
  const failure = {
    ...verdict,
    status,
    headers,
    names: [safeName(code) ?? safeName(type), param && `param ${param}`],
    message,
    afterMs: retryAfterMs(headers, { rateLimited: verdict.kind === 'rate_limit', ...facts }),
    requestId: requestIdIn(headers),
    details: detailsOf(report, facts, headers),
  }
  return reportedFailure(failure, context)
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
): Readonly<Record<string, unknown>> {
  const rateLimit = readRateLimits(rateLimitHeaders, headers)
  const { code, type, param, message } = facts
  const { innererror, content_filter_result: direct, content_filters: list } = recordOf(report)
  const { content_filter_result: inner, content_filter_results: all } = recordOf(innererror)
  const contentFilter = inner ?? all ?? direct ?? list
  const { n_ctx: size, n_prompt_tokens: prompt } = recordOf(report)
  const [, limit = size, got = prompt] =
    /maximum context length is (\d+) tokens\D+?(\d+) tokens/.exec(message ?? '') ?? []
  return {
    ...(safeName(code) && { code }),
    ...(safeName(type) && { type }),
    ...(param && { param }),
    ...(contentFilter !== undefined && { contentFilter }),
    ...(rateLimit && { rateLimit }),
    ...(Number(limit) > 0 && { limitTokens: Number(limit), requestedTokens: Number(got) }),
  }
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

import type { ProviderError } from '@lamella/core'
import type { FailureContext, HeaderReader } from '@lamella/transport'
import {
  defined,
  listOf,
  readRateLimits,
  recordOf,
  reportedFailure,
  reportWords,
  safeName,
  stringOf,
  transportError,
  verdictOfStatus,
} from '@lamella/transport'
import type { ErrorCodes, ErrorFacts } from './error-kind.ts'
import { kindOfReport } from './error-kind.ts'
import { rateLimitHeaders, retryAfterMs } from './retry-after.ts'

/** Context of a call that failed, with the server's own codes. */
export interface OpenAIFailure extends FailureContext {
  readonly errorCodes: ErrorCodes
}

/** Makes a `ProviderError` of what a call raised. What is neither the provider's nor the network's stays. */
export function toProviderError(error: unknown, context: OpenAIFailure): unknown {
  return transportError(error, context, reported)
}

function reported(
  body: unknown,
  httpStatus: number | undefined,
  headers: HeaderReader | undefined,
  context: OpenAIFailure,
): ProviderError {
  const report = recordOf(body)['error'] ?? body
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
  const innerCode = recordOf(recordOf(report)['innererror'])['code']
  const shownCode = code ?? innerCode ?? (type === undefined ? status : undefined)
  return defined({
    code: isName(shownCode) ? String(shownCode) : undefined,
    type: stringOf(type),
    param: /^[\w.[\]-]{1,64}$/.test(stringOf(param) ?? '') ? stringOf(param) : undefined,
    message: reportWords(report),
    retryDelay: retryDelayIn(recordOf(report)['details']),
  })
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
  const { code, type, param, message } = facts
  const rateLimit = readRateLimits(rateLimitHeaders, headers)
  const { innererror, content_filter_result: direct, content_filters: list } = recordOf(report)
  const { content_filter_result: inner, content_filter_results: all } = recordOf(innererror)
  const contentFilter = inner ?? all ?? direct ?? list
  const { n_ctx: size, n_prompt_tokens: prompt } = recordOf(report)
  const [, limit = size, got = prompt] =
    /maximum context length is (\d+) tokens\D+?(\d+) tokens/.exec(message ?? '') ?? []
  return {
    ...defined({ code: safeName(code), type: safeName(type), param, contentFilter, rateLimit }),
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

function isName(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && value !== '')
}

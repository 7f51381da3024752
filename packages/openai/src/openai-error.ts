import type { ChatResponse, ProviderErrorKind } from '@lamella/core'
import { isProviderError, ProviderError } from '@lamella/core'
import { APIConnectionError, APIConnectionTimeoutError, OpenAIError } from 'openai'
import { isHeaderValue, unfitForHeader } from './check-connection.ts'
import type { ErrorFacts } from './error-kind.ts'
import { kindOfReport, kindOfStatus } from './error-kind.ts'
import type { Confidential } from './provider-words.ts'
import { providerWords } from './provider-words.ts'
import { rateLimitInfo } from './rate-limit-info.ts'
import type { HeaderReader } from './retry-after.ts'
import { retryAfterMs } from './retry-after.ts'
import { record, stringOf } from './wire.ts'

/** What the provider said about a failure inside an answer whose status was 200. */
export class InBandFailure {
  readonly report: unknown
  readonly headers: HeaderReader | undefined

  constructor(report: unknown, headers?: HeaderReader) {
    this.report = report
    this.headers = headers
  }
}

/** What is known of the call that failed. */
export interface FailureContext {
  readonly provider: string
  /** Whether the request has effects besides the answer, if the provider did take it up. */
  readonly replay: 'safe' | 'unsafe'
  readonly confidential: Confidential
  readonly partial?: ChatResponse | undefined
}

/** Makes a `ProviderError` of what the SDK or the network raised. What is neither stays as it is. */
export function toProviderError(error: unknown, context: FailureContext): unknown {
  if (isProviderError(error)) return error
  if (error instanceof InBandFailure)
    return reported(error.report, undefined, error.headers, context)
  const { status, headers, error: report, message } = record(error)
  if (typeof status === 'number' && isA(error, OpenAIError)) {
    return reported(report ?? bodyText(message), status, headers as HeaderReader, context)
  }
  if (isA(error, APIConnectionTimeoutError)) return failed('timeout', context, { cause: error })
  if (neverPasses(error)) return unsendable(context)
  if (isA(error, APIConnectionError) || isTransportError(error)) {
    return failed(isTimeout(error) ? 'timeout' : 'network', context, { cause: error })
  }
  // What is left of the SDK's errors are credentials that could not be had.
  if (isA(error, OpenAIError)) {
    const { cause } = record(error)
    return isProviderError(cause) ? cause : failed('auth', context)
  }
  return error
}

/**
 * Like `toProviderError`, for what was raised before there was an answer: what neither the SDK nor
 * the network explains is a header or an address that cannot be sent.
 */
export function toRequestError(error: unknown, context: FailureContext): unknown {
  const known = toProviderError(error, context)
  return isProviderError(known) ? known : unsendable(context)
}

/** Without the cause: its message quotes the header or the address. */
function unsendable(failure: FailureContext): ProviderError {
  const context: FailureContext = { ...failure, replay: 'safe' }
  if (!isHeaderValue(failure.confidential.key ?? '')) {
    return failed('auth', context, { words: `the API key ${unfitForHeader}` })
  }
  const words = 'the request cannot be sent: its address or one of its headers is not valid'
  return failed('invalid_request', context, { words })
}

/** A failure that only this side knows of. */
export function failed(
  kind: ProviderErrorKind,
  { provider, replay, confidential, partial }: FailureContext,
  more: { readonly words?: string; readonly cause?: unknown; readonly retryable?: boolean } = {},
): ProviderError {
  const { words = phrases[kind], cause, retryable } = more
  const code = codeOf(cause)
  return new ProviderError(`${provider}: ${words}${code === undefined ? '' : ` (${code})`}`, {
    kind,
    provider,
    retry: {
      ...(retryable !== undefined && { retryable }),
      replay: code !== undefined && neverSent.has(code) ? 'safe' : replay,
    },
    ...(code !== undefined && { details: { code } }),
    ...(partial !== undefined && { partial }),
    // What a function that gives out credentials failed with may hold them.
    ...(cause instanceof Error &&
      kind !== 'auth' && { cause: transportCause(cause, confidential) }),
  })
}

function reported(
  report: unknown,
  httpStatus: number | undefined,
  headers: HeaderReader | undefined,
  { provider, replay, confidential, partial }: FailureContext,
): ProviderError {
  const facts = factsOf(report)
  // Routers report the status of the provider behind them as the code of an error inside a 200.
  const status =
    httpStatus ?? (/^[45]\d\d$/.test(facts.code ?? '') ? Number(facts.code) : undefined)
  const { kind, retryable } = kindOfReport(facts, status) ?? kindOfStatus(status)
  const advice = kind === 'quota' ? null : (headers?.get('x-should-retry') ?? null)
  const afterMs = retryAfterMs(headers, { rateLimited: kind === 'rate_limit', ...facts })
  const { code, type, param, message } = facts
  const shown = [status, safeName(code) ?? safeName(type), param && `param ${param}`]
  const known = shown.filter(
    (part, at) => part !== undefined && (at === 0 || `${part}` !== `${status}`),
  )
  return new ProviderError(
    `${provider}: ${phrases[kind]}${known.length > 0 ? ` (${known.join(', ')})` : ''}`,
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
      requestId: requestId(headers),
      partial,
      details: detailsOf(report, facts, headers),
      ...(message && { cause: new Error(providerWords(message, confidential)) }),
    },
  )
}

function factsOf(report: unknown): ErrorFacts {
  if (typeof report === 'string') return { message: report }
  const { code, type, param, message, status, error } = record(report)
  if (message === undefined && code === undefined && error !== undefined) return factsOf(error)
  const innerCode = record(record(report)['innererror'])['code']
  const shownCode = code ?? innerCode ?? (type === undefined ? status : undefined)
  return {
    ...(isName(shownCode) && { code: String(shownCode) }),
    ...(typeof type === 'string' && { type }),
    ...(typeof param === 'string' && /^[\w.[\]-]{1,64}$/.test(param) && { param }),
    ...(typeof message === 'string' && { message }),
  }
}

function detailsOf(
  report: unknown,
  facts: ErrorFacts,
  headers: HeaderReader | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const rateLimit = rateLimitInfo(headers)
  const { code, type, param, message } = facts
  const { innererror, content_filter_result: direct, content_filters: list } = record(report)
  const { content_filter_result: inner, content_filter_results: all } = record(innererror)
  const contentFilter = inner ?? all ?? direct ?? list
  const [, limit, got] =
    /maximum context length is (\d+) tokens\D+?(\d+) tokens/.exec(message ?? '') ?? []
  const details = {
    ...(safeName(code) && { code }),
    ...(safeName(type) && { type }),
    ...(param && { param }),
    ...(contentFilter !== undefined && { contentFilter }),
    ...(rateLimit && { rateLimit }),
    ...(limit && { limitTokens: Number(limit), requestedTokens: Number(got) }),
  }
  return Object.keys(details).length > 0 ? details : undefined
}

const phrases: Readonly<Record<ProviderErrorKind, string>> = {
  rate_limit: 'rate limited',
  quota: 'the quota is used up',
  overloaded: 'overloaded',
  timeout: 'timed out',
  network: 'the connection failed',
  auth: 'not authorized',
  invalid_request: 'the request was refused',
  context_length: 'the input is too long for the model',
  content_filter: 'blocked by the content filter',
  not_found: 'not found',
  truncated_stream: 'the stream broke off before its end',
  server: 'the server failed',
}

const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])

/** The body of an error that is no JSON, which the SDK puts behind the status. */
function bodyText(message: unknown): string | undefined {
  const text = stringOf(message)?.replace(/^\d{3} /, '')
  return text === 'status code (no body)' ? undefined : text
}

function requestId(headers: HeaderReader | undefined): string | undefined {
  for (const name of ['x-request-id', 'apim-request-id', 'request-id']) {
    const id = headers?.get(name)
    if (id) return id
  }
  return undefined
}

/** The innermost error: the SDK's own around it holds headers. */
function transportCause(error: Error, confidential: Confidential): Error {
  if (error.cause instanceof Error) return transportCause(error.cause, confidential)
  const { key = '' } = confidential
  // What is shorter is no secret but a stand-in for one, such as `none`.
  const isClean = key.length < 8 || !`${error.message} ${error.stack}`.includes(key)
  return isClean ? error : new Error(providerWords(error.message, confidential))
}

// Of Node's fetch, which knows these reasons by their words only. A port may be one that it never calls.
const refusals =
  /^(bad port|unknown scheme|not implemented|invalid url|failed to parse url|request cannot be constructed|url scheme must be)|\b(invalid header value|ByteString)\b/i

/** Whether fetch refused to send it, and always will. */
function neverPasses(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (refusals.test(at.message) || /^ERR_INVALID_(URL|CHAR)/.test(String(record(at)['code']))) {
      return true
    }
  }
  return false
}

function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = record(at)
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code)) return code
  }
  return undefined
}

function isTransportError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    codeOf(error) !== undefined || /^(terminated|fetch failed|network error)/i.test(error.message)
  )
}

function isTimeout(error: unknown): boolean {
  return /TIMEOUT|TIMEDOUT/.test(codeOf(error) ?? '')
}

/** Two copies of the SDK may be installed, and then `instanceof` knows only one of them. */
function isA(error: unknown, base: abstract new (...args: never) => Error): boolean {
  if (error instanceof base) return true
  for (
    let at: unknown = error;
    at !== null && typeof at === 'object';
    at = Object.getPrototypeOf(at)
  ) {
    if (at.constructor?.name === base.name) return true
  }
  return false
}

function isName(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && value !== '')
}

function safeName(value: string | undefined): string | undefined {
  return value !== undefined && /^[\w.-]{1,64}$/.test(value) ? value : undefined
}

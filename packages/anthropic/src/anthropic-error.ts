import type { ChatResponse, ProviderErrorKind } from '@lamella/core'
import { isProviderError, ProviderError } from '@lamella/core'
import { AnthropicError, APIConnectionError, APIConnectionTimeoutError } from '@anthropic-ai/sdk'
import type { ErrorFacts } from './error-kind.ts'
import { kindOf } from './error-kind.ts'
import type { Confidential } from './provider-words.ts'
import { providerWords } from './provider-words.ts'
import { rateLimitInfo } from './rate-limit-info.ts'
import type { HeaderReader } from './retry-after.ts'
import { retryAfterMs } from './retry-after.ts'
import { record, stringOf } from './wire.ts'

/** What Anthropic said about a failure inside an answer whose status was 200. */
export class InBandFailure {
  readonly report: unknown

  constructor(report: unknown) {
    this.report = report
  }
}

/** What is known of the call that failed. */
export interface FailureContext {
  readonly provider: string
  /** Whether the request has effects besides the answer, if it was taken up. */
  readonly replay: 'safe' | 'unsafe'
  readonly confidential: Confidential
  readonly partial?: ChatResponse | undefined
  /** Of an answer that has begun. */
  readonly headers?: HeaderReader | undefined
}

/** Makes a `ProviderError` of what the SDK or the network raised. What is neither stays as it is. */
export function toProviderError(error: unknown, context: FailureContext): unknown {
  if (isProviderError(error)) return error
  if (error instanceof InBandFailure) {
    return reported(error.report, undefined, context.headers, context)
  }
  const { status, headers, error: report, message } = record(error)
  if (typeof status === 'number' && isA(error, AnthropicError)) {
    return reported(report ?? bodyText(message), status, headers as HeaderReader, context)
  }
  if (isA(error, APIConnectionTimeoutError)) return failed('timeout', context, { cause: error })
  if (isA(error, APIConnectionError) || isTransportError(error)) {
    return failed(isTimeout(error) ? 'timeout' : 'network', context, { cause: error })
  }
  // What is left of the SDK's errors are credentials that could not be had.
  if (isA(error, AnthropicError)) return failed('auth', context)
  return error
}

/** A failure that only this side knows of. */
export function failed(
  kind: ProviderErrorKind,
  { provider, replay, partial, headers }: FailureContext,
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
    requestId: headers?.get('request-id') ?? undefined,
    ...(code !== undefined && { details: { code } }),
    ...(partial !== undefined && { partial }),
    // What a function that gives out credentials failed with may hold them.
    ...(cause instanceof Error && kind !== 'auth' && { cause: transportCause(cause) }),
  })
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
    `${provider}: ${phrases[kind]}${shown.length > 0 ? ` (${shown.join(', ')})` : ''}`,
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
      requestId: headers?.get('request-id') ?? stringOf(record(report)['request_id']),
      partial,
      details: Object.keys(details).length > 0 ? { ...details, ...tokensIn(message) } : undefined,
      ...(message && { cause: new Error(providerWords(message, confidential)) }),
    },
  )
}

function factsOf(report: unknown): ErrorFacts {
  if (typeof report === 'string') return { message: report }
  const { error, type, message, detail, details } = record(report)
  // Gateways say `{ error: 'words' }` or `{ message }`.
  if (typeof error === 'string') return { message: error }
  if (error != null) return factsOf(error)
  const name = safeName(type)
  const code = safeName(record(details)['error_code'])
  const words = stringOf(message) ?? stringOf(detail)
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

/** The innermost error: the SDK's own around it holds headers. */
function transportCause(error: Error): Error {
  return error.cause instanceof Error ? transportCause(error.cause) : error
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

function safeName(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? value : undefined
}

import { LamellaError } from '../base/lamella-error.ts'
import type { ChatResponse } from '../messages/chat-response.ts'

/** Category of a provider failure. */
export type ProviderErrorKind =
  | 'rate_limit'
  | 'quota'
  | 'overloaded'
  | 'timeout'
  | 'network'
  | 'auth'
  | 'invalid_request'
  | 'context_length'
  | 'content_filter'
  | 'not_found'
  | 'truncated_stream'
  | 'server'

/** Advice on whether and when to retry. */
export interface RetryAdvice {
  /** True if another attempt may succeed. */
  readonly retryable: boolean
  /** Milliseconds the provider asks to wait. A negative number or NaN counts as absent. */
  readonly afterMs?: number | undefined
  /** `unsafe` if the first call may have had an effect at the provider. @default 'safe' */
  readonly replay: 'safe' | 'unsafe'
}

/** Options of `new ProviderError`. */
export interface ProviderErrorOptions {
  /** Category of the failure. */
  readonly kind: ProviderErrorKind
  /** Provider that failed. */
  readonly provider: string
  /** HTTP status, if there was a response. */
  readonly status?: number | undefined
  /**
   * Retry advice; missing fields follow from `kind`.
   * @default { retryable: by kind, replay: 'safe' }
   */
  readonly retry?: Partial<RetryAdvice> | undefined
  /** Provider's id of the request. */
  readonly requestId?: string | undefined
  /** Response received before the failure, with the usage known by then. */
  readonly partial?: ChatResponse | undefined
  /** Facts about the failure, such as content-filter categories. No text of the conversation. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
  /** Original error. */
  readonly cause?: unknown
}

/** A model call failed. Retry and fallback read only this, whatever the provider. */
export class ProviderError extends LamellaError {
  /** Category of the failure. */
  readonly kind: ProviderErrorKind
  /** Provider that failed. */
  readonly provider: string
  /** HTTP status, if there was a response. */
  readonly status: number | undefined
  /** Advice on whether and when to retry. */
  readonly retry: RetryAdvice
  /** Provider's id of the request, for support. */
  readonly requestId: string | undefined
  /**
   * Response received before the failure, with the usage known by then. Not enumerable, so that it does not
   * show when the error is printed or serialized. Outside a guardrail on output, and outside a middleware that
   * transforms updates, it has no messages: they would reveal what was removed.
   */
  declare readonly partial: ChatResponse | undefined
  /** Facts about the failure, without text of the conversation. */
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(message: string, options: ProviderErrorOptions) {
    super(message, { code: 'provider_error', cause: options.cause })
    this.kind = options.kind
    this.provider = options.provider
    this.status = options.status
    const { afterMs, ...advice } = options.retry ?? {}
    this.retry = {
      retryable: retryableKinds.has(options.kind),
      replay: 'safe',
      ...advice,
      // A client may compute it from a header that it does not understand.
      ...(typeof afterMs === 'number' && afterMs >= 0 && { afterMs }),
    }
    this.requestId = options.requestId
    // Loggers and `util.inspect` write what is enumerable, and this is text of the conversation.
    Object.defineProperty(this, 'partial', { value: options.partial, configurable: true })
    this.details = options.details
  }

  override get name(): string {
    return 'ProviderError'
  }
}

/** Kinds of failures that are usually temporary. */
export const retryableKinds: ReadonlySet<ProviderErrorKind> = new Set([
  'rate_limit',
  'overloaded',
  'timeout',
  'network',
  'truncated_stream',
  'server',
])

/** Returns true if `error` is a `ProviderError`, from this copy of core or another. */
export function isProviderError(error: unknown): error is ProviderError {
  return LamellaError.is(error, 'provider_error')
}

/**
 * Takes the messages out of what has arrived of failed model calls, in an error and in all that it
 * was caused by. Usage, model and ids stay. Returns the error.
 */
export function withoutPartial(error: unknown): unknown {
  const seen = new Set<unknown>()
  const open: unknown[] = [error]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    if (isProviderError(next) && next.partial !== undefined) {
      const { raw: _raw, value: _value, ...known } = next.partial
      const value = { ...known, messages: [], text: '', functionCalls: [] }
      Reflect.defineProperty(next, 'partial', { value })
    }
    const { cause, errors } = next as { cause?: unknown; errors?: unknown }
    open.push(cause, ...(Array.isArray(errors) ? errors : []))
  }
  return error
}

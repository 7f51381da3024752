import { LamellaError } from './lamella-error.ts'
import type { ChatResponse } from './chat-response.ts'

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

/** What a provider says about calling again. */
export interface RetryAdvice {
  readonly retryable: boolean
  /** Milliseconds the provider asks to wait. */
  readonly afterMs?: number | undefined
  /** `unsafe`: the first call may have had an effect on the provider's side. */
  readonly replay: 'safe' | 'unsafe'
}

export interface ProviderErrorOptions {
  readonly kind: ProviderErrorKind
  readonly provider: string
  readonly status?: number | undefined
  readonly retry?: Partial<RetryAdvice> | undefined
  readonly requestId?: string | undefined
  /** What had arrived when the call failed, with the usage known by then. */
  readonly partial?: ChatResponse | undefined
  /** Facts about the failure, such as content-filter categories. No text of the conversation. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
  readonly cause?: unknown
}

/** A model call failed. Retry and fallback read only this, whatever the provider. */
export class ProviderError extends LamellaError {
  readonly kind: ProviderErrorKind
  readonly provider: string
  readonly status: number | undefined
  readonly retry: RetryAdvice
  readonly requestId: string | undefined
  readonly partial: ChatResponse | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(message: string, options: ProviderErrorOptions) {
    super(message, { code: 'provider_error', cause: options.cause })
    this.kind = options.kind
    this.provider = options.provider
    this.status = options.status
    this.retry = { retryable: retryableKinds.has(options.kind), replay: 'safe', ...options.retry }
    this.requestId = options.requestId
    this.partial = options.partial
    this.details = options.details
  }

  override get name(): string {
    return 'ProviderError'
  }
}

/** What may be over soon. */
export const retryableKinds: ReadonlySet<ProviderErrorKind> = new Set([
  'rate_limit',
  'overloaded',
  'timeout',
  'network',
  'truncated_stream',
  'server',
])

/** Whether `error` is a provider's, of this copy of core or another. */
export function isProviderError(error: unknown): error is ProviderError {
  return LamellaError.is(error, 'provider_error')
}

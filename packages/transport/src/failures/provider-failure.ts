import type { ProviderErrorKind, ChatResponse } from '@lamella/core'
import { ProviderError } from '@lamella/core'
import { defined } from '../wire/wire.ts'
import { networkCode } from './network-error.ts'
import type { Confidential } from './provider-words.ts'
import { isSecret, providerWords } from './provider-words.ts'
import type { HeaderReader } from './retry-after.ts'

/** Context of the call that failed. */
export interface FailureContext {
  /** Provider that the message names. */
  readonly provider: string
  /** Tells if a retry is safe: a request may have effects besides its answer. */
  readonly replay: 'safe' | 'unsafe'
  /** Texts that the error must not repeat. */
  readonly confidential: Confidential
  /** Part of the answer that had arrived. */
  readonly partial?: ChatResponse | undefined
  /** Of an answer that had begun. */
  readonly headers?: HeaderReader | undefined
  /** The server's name for the request. */
  readonly requestId?: string | undefined
}

/** Phrases for the message of an error, by kind. */
export const failurePhrases: Readonly<Record<ProviderErrorKind, string>> = {
  rate_limit: 'rate limited',
  quota: 'the quota is used up',
  overloaded: 'overloaded',
  timeout: 'timed out',
  network: 'the connection failed',
  auth: 'not authorized',
  invalid_request: 'the request was refused',
  context_length: 'the input is too long for the model',
  content_filter: 'blocked by the content filter',
  not_found: 'the model or the address was not found',
  truncated_stream: 'the stream broke off before its end',
  server: 'the server failed',
}

const neverSent: ReadonlySet<string | undefined> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
])

/**
 * The error for a failure that only this side knows of: the provider said nothing about it.
 * @example
 * ```ts
 * import { providerFailure } from '@lamella/transport'
 *
 * const confidential = { keys: () => ['my-key'], texts: () => [] }
 * const error = providerFailure('network', { provider: 'acme', replay: 'safe', confidential })
 * console.log(error.kind, error.retry.retryable) // network true
 * ```
 */
export function providerFailure(
  kind: ProviderErrorKind,
  { provider, replay, confidential, partial, requestId }: FailureContext,
  more: {
    /** In place of the kind's own phrase. */
    readonly words?: string | undefined
    readonly cause?: unknown
    readonly retryable?: boolean | undefined
  } = {},
): ProviderError {
  const { words = failurePhrases[kind], cause, retryable } = more
  const code = networkCode(cause)
  return new ProviderError(`${provider}: ${words}${code === undefined ? '' : ` (${code})`}`, {
    kind,
    provider,
    retry: defined({ retryable, replay: neverSent.has(code) ? 'safe' : replay }),
    requestId,
    partial,
    details: code === undefined ? undefined : { code },
    // What a function that gives out credentials failed with may hold them.
    cause: cause instanceof Error && kind !== 'auth' ? innermost(cause, confidential) : undefined,
  })
}

/** The innermost error: an SDK's own around it holds headers. */
function innermost(error: Error, confidential: Confidential): Error {
  if (error.cause instanceof Error) return innermost(error.cause, confidential)
  const shown = `${error.message} ${error.stack}`
  const isClean = !confidential.keys().some((key) => isSecret(key) && shown.includes(key))
  return isClean ? error : new Error(providerWords(error.message, confidential))
}

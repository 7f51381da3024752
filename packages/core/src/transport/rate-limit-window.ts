import type { ChatResponseUpdate } from '../messages/chat-response.ts'
import type { RateLimitInfo, RateLimitWindowInfo } from './rate-limit-info.ts'
import { nonNegative } from './retry-after.ts'

/** Reads one limit from three headers; `untilReset` reads the milliseconds in the dialect of the third. */
export function rateLimitWindow(
  headers: {
    readonly limit: string | null
    readonly remaining: string | null
    readonly reset: string | null
  },
  untilReset: (value: string, now: number) => number | undefined,
  now: number,
): RateLimitWindowInfo | undefined {
  const limit = nonNegative(headers.limit)
  const remaining = nonNegative(headers.remaining)
  if (limit === undefined && remaining === undefined) return undefined
  const waitMs = headers.reset === null ? undefined : untilReset(headers.reset, now)
  return {
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(waitMs !== undefined && { resetAt: now + waitMs }),
  }
}

/** Facts in the headers of an answer, each if it is known. */
export interface HeaderFacts {
  /** Limits of the provider. */
  readonly rateLimit: RateLimitInfo | undefined
  /** The server's name for the request. */
  readonly requestId: string | undefined
  /** All headers, where the application asks for them. Cookies are left out. */
  readonly headers: Headers | undefined
}

/** Facts of the headers as a part of the answer: `metadata.rateLimit`, `requestId` and `headers`. */
export function headerUpdates({
  rateLimit,
  requestId,
  headers,
}: HeaderFacts): readonly ChatResponseUpdate[] {
  const shown = [...(headers ?? [])].filter(([name]) => name !== 'set-cookie')
  const metadata = {
    ...(rateLimit !== undefined && { rateLimit }),
    ...(requestId !== undefined && { requestId }),
    ...(headers !== undefined && { headers: Object.fromEntries(shown) }),
  }
  return Object.keys(metadata).length === 0 ? [] : [{ contents: [], metadata }]
}

import type { ChatResponseUpdate } from './chat-response.ts'
import type { RateLimitInfo, RateLimitWindowInfo } from './rate-limit-info.ts'
import { nonNegative } from './retry-after.ts'

/** What three headers say about one limit; `untilReset` reads the milliseconds in the dialect of the third. */
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

/** What is known of limits as a part of the answer: its `metadata.rateLimit`. */
export function rateLimitUpdates(
  rateLimit: RateLimitInfo | undefined,
): readonly ChatResponseUpdate[] {
  return rateLimit === undefined ? [] : [{ contents: [], metadata: { rateLimit } }]
}

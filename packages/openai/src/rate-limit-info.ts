import type { ChatResponseUpdate } from '@lamella/core'
import type { RateLimitInfo, RateLimitWindowInfo } from '@lamella/core/authoring'
import type { HeaderReader } from './retry-after.ts'
import { nonNegative, resetMs } from './retry-after.ts'

/**
 * What the headers of an answer say about limits, if they say anything:
 * https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers, 2026-11.
 */
export function rateLimitInfo(
  headers: HeaderReader | undefined,
  now: number = Date.now(),
): RateLimitInfo | undefined {
  const requests = windowOf(headers, 'requests', now)
  const tokens = windowOf(headers, 'tokens', now)
  if (requests === undefined && tokens === undefined) return undefined
  return { ...(requests && { requests }), ...(tokens && { tokens }) }
}

/** The same as a part of the answer: its `metadata.rateLimit`. */
export function rateLimitUpdates({ headers }: Response): readonly ChatResponseUpdate[] {
  const rateLimit = rateLimitInfo(headers)
  return rateLimit === undefined ? [] : [{ contents: [], metadata: { rateLimit } }]
}

function windowOf(
  headers: HeaderReader | undefined,
  dimension: string,
  now: number,
): RateLimitWindowInfo | undefined {
  const read = (name: string): string | null =>
    headers?.get(`x-ratelimit-${name}-${dimension}`) ?? null
  const limit = nonNegative(read('limit'))
  const remaining = nonNegative(read('remaining'))
  const reset = read('reset')
  const waitMs = reset === null ? undefined : resetMs(reset, now)
  if (limit === undefined && remaining === undefined) return undefined
  return {
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(waitMs !== undefined && { resetAt: now + waitMs }),
  }
}

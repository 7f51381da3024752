import type { RateLimitInfo, RateLimitWindowInfo } from '@lamella/core/authoring'
import type { HeaderReader } from '@lamella/core/transport'
import { rateLimitWindow } from '@lamella/core/transport'
import { resetMs } from './retry-after.ts'

/**
 * Reads the limits in the headers of an answer, if there are any:
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

function windowOf(
  headers: HeaderReader | undefined,
  dimension: string,
  now: number,
): RateLimitWindowInfo | undefined {
  const read = (name: string): string | null =>
    headers?.get(`x-ratelimit-${name}-${dimension}`) ?? null
  const told = { limit: read('limit'), remaining: read('remaining'), reset: read('reset') }
  return rateLimitWindow(told, resetMs, now)
}

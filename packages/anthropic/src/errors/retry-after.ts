import type { HeaderReader } from '@lamella/transport'
import { nonNegative, retryAfterHeaderMs, untilDate } from '@lamella/transport'

// https://platform.claude.com/docs/en/api/rate-limits#response-headers, 2026-11.
const dimensions = [
  'requests',
  'tokens',
  'input-tokens',
  'output-tokens',
  'priority-input-tokens',
  'priority-output-tokens',
]

/**
 * How many milliseconds Anthropic asks to wait: `retry-after-ms`, else `retry-after` in seconds or
 * as a date, else (after a 429) when the limit that is used up is full again. It is not capped.
 */
export function retryAfterMs(
  headers: HeaderReader | undefined,
  isRateLimited: boolean,
  now: number = Date.now(),
): number | undefined {
  if (headers === undefined) return undefined
  return retryAfterHeaderMs(headers, now) ?? (isRateLimited ? untilReset(headers, now) : undefined)
}

/** Until all limits with nothing left are full again. */
function untilReset(headers: HeaderReader, now: number): number | undefined {
  const waits = dimensions.flatMap((dimension) => {
    const isUsedUp = nonNegative(headers.get(`anthropic-ratelimit-${dimension}-remaining`)) === 0
    const reset = headers.get(`anthropic-ratelimit-${dimension}-reset`)
    return isUsedUp ? (untilMoment(reset, now) ?? []) : []
  })
  // Subscriptions have one limit, with its moment in seconds since 1970.
  if (headers.get('anthropic-ratelimit-unified-status') === 'rejected') {
    waits.push(untilMoment(headers.get('anthropic-ratelimit-unified-reset'), now) ?? 0)
  }
  return waits.length > 0 ? Math.max(...waits) : undefined
}

/** The milliseconds until a moment in seconds since 1970, or a date. */
export function untilMoment(value: string | null, now: number): number | undefined {
  const seconds = nonNegative(value)
  return seconds === undefined ? untilDate(value, now) : Math.max(0, seconds * 1000 - now)
}

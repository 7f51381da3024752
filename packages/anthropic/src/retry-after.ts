/** The part of `Headers` that is read here. */
export interface HeaderReader {
  get(name: string): string | null
}

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
  return (
    nonNegative(headers.get('retry-after-ms')) ??
    inSecondsOrDate(headers.get('retry-after'), now) ??
    (isRateLimited ? untilReset(headers, now) : undefined)
  )
}

function inSecondsOrDate(value: string | null, now: number): number | undefined {
  const seconds = nonNegative(value)
  return seconds === undefined ? untilDate(value, now) : seconds * 1000
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

export function untilMoment(value: string | null, now: number): number | undefined {
  const seconds = nonNegative(value)
  return seconds === undefined ? untilDate(value, now) : Math.max(0, seconds * 1000 - now)
}

function untilDate(value: string | null, now: number): number | undefined {
  // `-1` is a date to the parser, too.
  const date = value !== null && /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

export function nonNegative(value: string | null): number | undefined {
  if (value === null || value.trim() === '') return undefined
  const number = Number(value)
  return Number.isFinite(number) && number >= 0 ? number : undefined
}

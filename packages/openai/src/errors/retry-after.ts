import type { HeaderReader, RateLimitHeaders } from '@lamella/transport'
import { nonNegative, readRateLimits, retryAfterHeaderMs } from '@lamella/transport'
import type { ErrorFacts } from './error-kind.ts'

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/**
 * How many milliseconds the provider asks to wait: `retry-after-ms`, else `retry-after` in seconds
 * or as a date, else (after a 429) when the exhausted limit of `x-ratelimit-reset-*` is full again,
 * else what the report says in Google's `RetryInfo` or in words. It is not capped.
 */
export function retryAfterMs(
  headers: HeaderReader | undefined,
  error: Pick<ErrorFacts, 'message' | 'type' | 'retryDelay'> & { readonly rateLimited: boolean },
  now: number = Date.now(),
): number | undefined {
  return (
    (headers && retryAfterHeaderMs(headers, now)) ??
    (headers && error.rateLimited ? untilReset(headers, error.type, now) : undefined) ??
    (error.retryDelay === undefined ? undefined : durationMs(error.retryDelay)) ??
    inWords(error.message)
  )
}

function untilReset(headers: HeaderReader, type: string | undefined, now: number) {
  const limits = Object.entries(readRateLimits(rateLimitHeaders, headers, now) ?? {})
  const waits = limits.flatMap(([dimension, { remaining, resetAt }]) => {
    const isExhausted = remaining === undefined ? type === dimension : remaining === 0
    return isExhausted && resetAt !== undefined ? [resetAt - now] : []
  })
  return waits.length > 0 ? Math.max(...waits) : undefined
}

/** https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers, 2026-11. */
export const rateLimitHeaders: RateLimitHeaders = {
  windows: { requests: 'requests', tokens: 'tokens' },
  headerOf: (fact, window) => `x-ratelimit-${fact}-${window}`,
  untilReset: resetMs,
}

/** `6m0s`, `120ms`, plain seconds (Azure), or a moment in seconds or milliseconds since 1970. */
function resetMs(value: string, now: number): number | undefined {
  const number = nonNegative(value)
  if (number === undefined) return durationMs(value)
  if (number > 1e12) return Math.max(0, number - now)
  if (number > 1e9) return Math.max(0, number * 1000 - now)
  return number * 1000
}

function durationMs(value: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(value)) return undefined
  let total = 0
  for (const [, amount, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * unitMs[unit!]!
  }
  return total
}

/** Such as `Please try again in 1m30s` or `Please retry after 4 seconds`. */
function inWords(message: string | undefined): number | undefined {
  const [, amount, rest] =
    /\b(?:try again|retry)\s+(?:in|after)\s+(\d+(?:\.\d+)?)\s*([a-z0-9.]*)/i.exec(message ?? '') ??
    []
  if (amount === undefined || rest === undefined) return undefined
  const unit = /^(ms|milli\w*)/i.test(rest) ? 'ms' : (/^[smhd]/i.exec(rest)?.[0] ?? 's')
  const compact = durationMs(`${amount}${rest.replace(/\.$/, '')}`)
  return compact ?? Number(amount) * unitMs[unit.toLowerCase()]!
}

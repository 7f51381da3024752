import type { RateLimitInfo, RateLimitWindowInfo } from '@lamella/core/authoring'
import type { HeaderReader } from '@lamella/core/transport'
import { rateLimitWindow } from '@lamella/core/transport'
import { untilMoment } from './retry-after.ts'

/**
 * Reads the limits in the headers of an answer, if there are any:
 * https://platform.claude.com/docs/en/api/rate-limits#response-headers, 2026-11.
 */
export function rateLimitInfo(
  headers: HeaderReader | undefined,
  now: number = Date.now(),
): RateLimitInfo | undefined {
  const windows = Object.entries(dimensions).flatMap(([name, dimension]) => {
    const told = windowOf(headers, dimension, now)
    return told === undefined ? [] : [[name, told] as const]
  })
  return windows.length > 0 ? Object.fromEntries(windows) : undefined
}

const dimensions: Readonly<Record<keyof RateLimitInfo, string>> = {
  requests: 'requests',
  tokens: 'tokens',
  inputTokens: 'input-tokens',
  outputTokens: 'output-tokens',
}

function windowOf(
  headers: HeaderReader | undefined,
  dimension: string,
  now: number,
): RateLimitWindowInfo | undefined {
  const read = (name: string): string | null =>
    headers?.get(`anthropic-ratelimit-${dimension}-${name}`) ?? null
  const told = { limit: read('limit'), remaining: read('remaining'), reset: read('reset') }
  return rateLimitWindow(told, untilMoment, now)
}

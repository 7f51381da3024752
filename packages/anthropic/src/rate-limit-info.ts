import type { ChatResponseUpdate } from '@lamella/core'
import type { RateLimitInfo, RateLimitWindowInfo } from '@lamella/core/authoring'
import type { HeaderReader } from './retry-after.ts'
import { nonNegative, untilMoment } from './retry-after.ts'

/**
 * What the headers of an answer say about limits, if they say anything:
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
    headers?.get(`anthropic-ratelimit-${dimension}-${name}`) ?? null
  const limit = nonNegative(read('limit'))
  const remaining = nonNegative(read('remaining'))
  const waitMs = untilMoment(read('reset'), now)
  if (limit === undefined && remaining === undefined) return undefined
  return {
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(waitMs !== undefined && { resetAt: now + waitMs }),
  }
}

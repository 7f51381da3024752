import type { ChatResponseUpdate } from '@lamella/core'
import { defined, unlessEmpty } from '../wire/wire.ts'
import type { RateLimitInfo } from '@lamella/core/authoring'
import type { HeaderReader } from './retry-after.ts'
import { nonNegative } from './retry-after.ts'

/** Facts of a limit that headers tell. */
type LimitFact = 'limit' | 'remaining' | 'reset'

/** Headers of a provider about its limits. */
export interface RateLimitHeaders {
  /** Names of the limits in the headers, such as `input-tokens`. */
  readonly windows: Readonly<Partial<Record<keyof RateLimitInfo, string>>>
  /** Returns the name of a header, such as `x-ratelimit-limit-tokens`. */
  readonly headerOf: (fact: LimitFact, window: string) => string
  /** Reads the milliseconds until a limit is full again from the value of its header. */
  readonly untilReset: (value: string, now: number) => number | undefined
}

/** Reads the limits in the headers of an answer, if there are any. */
export function readRateLimits(
  { windows, headerOf, untilReset }: RateLimitHeaders,
  headers: HeaderReader | undefined,
  now: number = Date.now(),
): RateLimitInfo | undefined {
  const told = Object.entries(windows).flatMap(([name, window]) => {
    const read = (fact: LimitFact): string | null => headers?.get(headerOf(fact, window)) ?? null
    const facts = { limit: read('limit'), remaining: read('remaining'), reset: read('reset') }
    const limit = rateLimitWindow(facts, untilReset, now)
    return limit === undefined ? [] : [[name, limit] as const]
  })
  return told.length > 0 ? Object.fromEntries(told) : undefined
}

/** Reads one limit from three headers; `untilReset` reads the milliseconds in the dialect of the third. */
function rateLimitWindow(
  headers: Readonly<Record<LimitFact, string | null>>,
  untilReset: (value: string, now: number) => number | undefined,
  now: number,
): RateLimitInfo['requests'] {
  const limit = nonNegative(headers.limit)
  const remaining = nonNegative(headers.remaining)
  const waitMs = headers.reset === null ? undefined : untilReset(headers.reset, now)
  const resetAt = waitMs === undefined ? undefined : now + waitMs
  const known = defined({ limit, remaining, resetAt })
  return unlessEmpty(known)
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
  const metadata = defined({
    rateLimit,
    requestId,
    headers: headers && Object.fromEntries(shown),
  })
  return Object.keys(metadata).length === 0 ? [] : [{ contents: [], metadata }]
}

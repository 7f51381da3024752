import { LamellaError } from '@lamella/core'
import type { RateLimitUnit } from './rate-limit-options.ts'

/** Which limit kept a call from going on. */
export interface RateLimitDenial {
  /** Of the layer. */
  readonly limiter: string
  readonly unit: RateLimitUnit
  readonly limit: number
  /** 0 for concurrency. */
  readonly windowMs: number
  /** What is left of the limit; the call needs more. */
  readonly remaining: number
  /** Milliseconds after which the call would have passed, where that is known. */
  readonly retryAfterMs: number | undefined
}

/** A call was not let through. `code` is `rate_limited`. It holds no key and no text. */
export class RateLimitError extends LamellaError implements RateLimitDenial {
  readonly limiter: string
  readonly unit: RateLimitUnit
  readonly limit: number
  readonly windowMs: number
  readonly remaining: number
  readonly retryAfterMs: number | undefined
  /** `limit`: it did not wait, `wait`: it would wait too long, `queue`: too many waited already. */
  readonly reason: 'limit' | 'wait' | 'queue'

  constructor(denial: RateLimitDenial, reason: RateLimitError['reason']) {
    super(`${denial.limiter}: ${describe(denial)}${endings[reason]}`, { code: 'rate_limited' })
    const { limiter, unit, limit, windowMs, remaining, retryAfterMs } = denial
    this.limiter = limiter
    this.unit = unit
    this.limit = limit
    this.windowMs = windowMs
    this.remaining = remaining
    this.retryAfterMs = retryAfterMs
    this.reason = reason
  }

  override get name(): string {
    return 'RateLimitError'
  }

  /** Headers for a response with status 429. */
  headers(): Record<string, string> {
    const { retryAfterMs, limit, remaining } = this
    return {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(0, Math.floor(remaining))),
      ...(retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
    }
  }
}

function describe({ unit, limit, windowMs, retryAfterMs }: RateLimitDenial): string {
  const what = unit === 'concurrency' ? `${limit} calls at once` : `${limit} ${unit}`
  const within = windowMs > 0 ? ` in ${windowMs} ms` : ''
  const hint = retryAfterMs === undefined ? '' : `, free in ${Math.ceil(retryAfterMs)} ms`
  return `the limit of ${what}${within} is reached${hint}`
}

const endings: Readonly<Record<RateLimitError['reason'], string>> = {
  limit: '',
  wait: '; that is longer than the call may wait',
  queue: '; too many calls wait already',
}

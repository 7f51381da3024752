import { LamellaError } from '@lamella/core'

/** Quantity that a limit counts. */
export type RateLimitUnit =
  | 'requests'
  | 'inputTokens'
  | 'outputTokens'
  | 'totalTokens'
  | 'cost'
  | 'concurrency'

/** The limit that a call exceeded. */
export interface RateLimitDenial {
  /** Name of the middleware. */
  readonly limiter: string
  /** Quantity that the limit counts. */
  readonly unit: RateLimitUnit
  /** Maximum of the limit. */
  readonly limit: number
  /** Length of the window in milliseconds; 0 for concurrency. */
  readonly windowMs: number
  /** Remaining amount of the limit; the call needs more. */
  readonly remaining: number
  /** Milliseconds after which the call would have passed, if known. */
  readonly retryAfterMs: number | undefined
}

/** Thrown when a call is rejected. Its code is `rate_limited`. It holds no key and no text. */
export class RateLimitError extends LamellaError implements RateLimitDenial {
  /** Name of the middleware. */
  readonly limiter: string
  /** Quantity that the limit counts. */
  readonly unit: RateLimitUnit
  /** Maximum of the limit. */
  readonly limit: number
  /** Length of the window in milliseconds; 0 for concurrency. */
  readonly windowMs: number
  /** Remaining amount of the limit; the call needs more. */
  readonly remaining: number
  /** Milliseconds after which the call would have passed, if known. */
  readonly retryAfterMs: number | undefined
  /**
   * `limit`: the call did not wait. `wait`: it would wait longer than allowed. `queue`: too many calls
   * wait already.
   */
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

  /** Returns HTTP headers for a response with status 429. */
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
  wait: '; the wait would be longer than allowed',
  queue: '; too many calls are waiting already',
}

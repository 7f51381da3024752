import type { OptionRules } from '@lamella/core/authoring'
import { checkTimeLimit, wrongOption } from '@lamella/core/authoring'

/** Way to randomize waits, so that callers that failed together do not retry together. */
export type Jitter = 'full' | 'equal' | 'decorrelated' | 'none'

/** Waits between retries. */
export interface BackoffOptions {
  /**
   * Milliseconds before the first retry, before jitter.
   * @default 500
   */
  readonly initialDelayMs?: number | undefined
  /**
   * Factor by which each wait grows over the one before.
   * @default 2
   */
  readonly factor?: number | undefined
  /**
   * Upper limit for a computed wait, in milliseconds. A wait that the provider asks for may be longer.
   * @default 30_000
   */
  readonly maxDelayMs?: number | undefined
  /**
   * `full` waits between zero and the computed wait, `equal` between half of it and all of it,
   * `decorrelated` between the first wait and three times the last one.
   * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
   * @default 'full'
   */
  readonly jitter?: Jitter | undefined
}

/**
 * Computes the milliseconds to wait after try number `attempt`; `lastDelayMs` is the previous wait.
 */
export type Backoff = (attempt: number, lastDelayMs: number | undefined) => number

/** Rules that check the options of a backoff. */
export const backoffRules: OptionRules<BackoffOptions> = {
  initialDelayMs: 'any',
  factor: 'any',
  maxDelayMs: 'any',
  jitter: ['full', 'equal', 'decorrelated', 'none'],
}

/**
 * Makes a backoff whose waits grow exponentially.
 * @throws RangeError or TypeError that names the option and the value
 */
export function exponential(options: BackoffOptions, random: () => number): Backoff {
  const { initialDelayMs = 500, factor = 2, maxDelayMs = 30_000, jitter = 'full' } = options
  checkTimeLimit('retry', 'initialDelayMs', initialDelayMs, '0 or more')
  checkTimeLimit('retry', 'maxDelayMs', maxDelayMs, '0 or more')
  if (!(factor >= 1 && factor < Infinity)) {
    throw wrongOption('retry', 'factor', 'a number from 1 up', factor)
  }

  // Keep all finite: zero times infinity is not a number.
  const firstMs = Math.min(initialDelayMs, Number.MAX_VALUE)
  const longestMs = Math.min(maxDelayMs, Number.MAX_VALUE)
  return (attempt, lastDelayMs = firstMs) => {
    const growth = Math.min(factor ** (attempt - 1), Number.MAX_VALUE)
    const most = Math.min(longestMs, firstMs * growth)
    if (jitter === 'none') return most
    if (jitter === 'full') return random() * most
    if (jitter === 'equal') return most / 2 + (random() * most) / 2
    const above = Math.min(Math.max(firstMs, lastDelayMs * 3), Number.MAX_VALUE)
    return Math.min(longestMs, firstMs + random() * (above - firstMs))
  }
}

import type { OptionRules } from '@lamella/core/authoring'
import { wrongOption } from '@lamella/core/authoring'

/** How waits are spread, so that callers that failed together do not come back together. */
export type Jitter = 'full' | 'equal' | 'decorrelated' | 'none'

export interface BackoffOptions {
  /**
   * Milliseconds before the first retry, before jitter.
   * @default 500
   */
  readonly initialDelayMs?: number | undefined
  /**
   * By how much each wait is longer than the one before.
   * @default 2
   */
  readonly factor?: number | undefined
  /**
   * No wait of our own is longer, in milliseconds.
   * @default 30_000
   */
  readonly maxDelayMs?: number | undefined
  /**
   * `full` waits between nothing and the whole, `equal` between half and the whole, `decorrelated`
   * between the first wait and three times the last one.
   * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
   * @default 'full'
   */
  readonly jitter?: Jitter | undefined
}

/** Milliseconds to wait after try number `attempt`, the last wait being `lastDelayMs`. */
export type Backoff = (attempt: number, lastDelayMs: number | undefined) => number

export const backoffRules: OptionRules<BackoffOptions> = {
  initialDelayMs: 'any',
  factor: 'any',
  maxDelayMs: 'any',
  jitter: ['full', 'equal', 'decorrelated', 'none'],
}

/** Timers count milliseconds in 31 bits; what is longer fires at once. */
export const longestTimerMs: number = 2 ** 31 - 1

/** @throws RangeError or TypeError that names the option and the value */
export function exponential(options: BackoffOptions, random: () => number): Backoff {
  const { initialDelayMs = 500, factor = 2, maxDelayMs = 30_000, jitter = 'full' } = options
  checkMs('initialDelayMs', initialDelayMs)
  checkMs('maxDelayMs', maxDelayMs)
  if (!(factor >= 1 && factor < Infinity)) {
    throw wrongOption('retry', 'factor', 'a number from 1 up', factor)
  }

  return (attempt, lastDelayMs = initialDelayMs) => {
    // Not infinite, since no wait times infinity is no number.
    const growth = Math.min(factor ** (attempt - 1), Number.MAX_VALUE)
    const most = Math.min(maxDelayMs, initialDelayMs * growth)
    if (jitter === 'none') return most
    if (jitter === 'full') return random() * most
    if (jitter === 'equal') return most / 2 + (random() * most) / 2
    const above = Math.max(initialDelayMs, lastDelayMs * 3)
    return Math.min(maxDelayMs, initialDelayMs + random() * (above - initialDelayMs))
  }
}

/** @throws RangeError or TypeError that names the option and the value */
export function checkMs(option: string, value: number): void {
  if (!(value >= 0 && value <= longestTimerMs)) {
    throw wrongOption('retry', option, `from 0 to ${longestTimerMs}`, value)
  }
}

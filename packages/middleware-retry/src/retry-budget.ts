import type { Clock } from '@lamella/core/authoring'
import { checkOptions, systemClock, wrongOption } from '@lamella/core/authoring'

/** Limits retries in proportion to calls. Several pieces of middleware may share one. */
export interface RetryBudget {
  /** Counts a call that begins. */
  countCall(): void
  /** Returns true if one more retry is allowed, and counts it. */
  takeRetry(): boolean | Promise<boolean>
}

/** Options of `retryBudget`. */
export interface RetryBudgetOptions {
  /**
   * Retries allowed for each call.
   * @default 0.2
   */
  readonly ratio?: number | undefined
  /**
   * Retries allowed in a window regardless of the number of calls.
   * @default 10
   */
  readonly reserve?: number | undefined
  /**
   * Milliseconds for which calls and retries count.
   * @default 10_000
   */
  readonly windowMs?: number | undefined
  /**
   * Source of the current time in milliseconds.
   * @default the machine's clock
   */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

interface Count {
  readonly window: number
  calls: number
  retries: number
}

/**
 * Makes a retry budget for this process. Even when all calls fail, retries add no more than `ratio` to
 * the load. It keeps two half windows, so it counts over half a window to a whole one.
 * @throws RangeError or TypeError that names the option and the value
 * @example
 * ```ts
 * import { retry, retryBudget } from '@lamella/middleware-retry'
 *
 * const shared = retryBudget({ ratio: 0.1 })
 * const middleware = [retry({ retryBudget: shared }), retry({ name: 'other', retryBudget: shared })]
 * ```
 */
export function retryBudget(options: RetryBudgetOptions = {}): RetryBudget {
  checkOptions('retryBudget', options, { ratio: 'any', reserve: 0, windowMs: 1, clock: 'any' })
  const { ratio = 0.2, reserve = 10, windowMs = 10_000, clock = systemClock } = options
  if (!(ratio >= 0 && ratio < Infinity)) {
    throw wrongOption('retryBudget', 'ratio', 'a number from 0 up', ratio)
  }
  let counts: readonly Count[] = []
  const current = (): Count => {
    const window = Math.floor((clock.now() * 2) / windowMs)
    counts = counts.filter((count) => window - count.window < 2)
    const known = counts.find((count) => count.window === window)
    if (known !== undefined) return known
    const count = { window, calls: 0, retries: 0 }
    counts = [...counts, count]
    return count
  }
  const sum = (of: 'calls' | 'retries'): number =>
    counts.reduce((total, count) => total + count[of], 0)

  return {
    countCall() {
      current().calls++
    },
    takeRetry() {
      const now = current()
      if (sum('retries') + 1 > reserve + ratio * sum('calls')) return false
      now.retries++
      return true
    },
  }
}

import { checkOptions, systemClock, wrongOption } from '@lamella/core/authoring'

/** Bounds retries in proportion to calls. One may serve many layers. */
export interface RetryBudget {
  /** A call begins. */
  countCall(): void
  /** Whether there may be one more retry, which then counts. */
  takeRetry(): boolean | Promise<boolean>
}

export interface RetryBudgetOptions {
  /**
   * Retries for each call.
   * @default 0.2
   */
  readonly ratio?: number | undefined
  /**
   * Retries in a window whatever the number of calls.
   * @default 10
   */
  readonly reserve?: number | undefined
  /**
   * Milliseconds that calls and retries count for.
   * @default 10_000
   */
  readonly windowMs?: number | undefined
  readonly clock?: { now(): number } | undefined
}

interface Count {
  readonly window: number
  calls: number
  retries: number
}

/**
 * Makes a retry budget of this process: when all calls fail, retries add no more than their ratio to
 * the load. It remembers two halves of a window, so it counts between half of it and all of it.
 * @throws RangeError or TypeError that names the option and the value
 */
export function retryBudget(options: RetryBudgetOptions = {}): RetryBudget {
  const { ratio = 0.2, reserve = 10, windowMs = 10_000, clock = systemClock } = options
  checkOptions('retryBudget', options, { ratio: 'any', reserve: 0, windowMs: 1, clock: 'any' })
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

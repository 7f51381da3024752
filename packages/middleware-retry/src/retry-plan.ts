import { isProviderError } from '@lamella/core'
import type { RetryChange, RetryDecision } from './retry-decision.ts'
import type { GiveUpReason } from './retry-event.ts'
import type { RetrySettings } from './retry-settings.ts'

/** A try that came to nothing, and what is known about trying again. */
export interface FailedTry {
  readonly attempt: number
  readonly maxRetries: number
  /** What the provider or the caller's policy says. */
  readonly decision: RetryDecision
  /** A reason that stands against every further try. */
  readonly obstacle?: GiveUpReason | undefined
  readonly error?: unknown
}

/** Either a wait, or why there is none. */
export type RetryPlan =
  | { readonly delayMs: number; readonly change: RetryChange; readonly because?: never }
  | { readonly because: GiveUpReason; readonly delayMs?: never }

/** Plans the waits of one call: how long the next is, or why there is none. */
export class RetryPlanner {
  readonly #settings: RetrySettings
  readonly #startedAt: number
  #lastDelayMs: number | undefined

  constructor(settings: RetrySettings) {
    this.#settings = settings
    this.#startedAt = settings.clock.now()
  }

  async plan({ attempt, maxRetries, decision, obstacle, error }: FailedTry): Promise<RetryPlan> {
    const { respectRetryAfter, maxRetryAfterMs, maxElapsedMs, retryBudget, clock } = this.#settings
    if (!decision) return { because: 'not_retryable' }
    if (obstacle !== undefined) return { because: obstacle }
    if (attempt > maxRetries) return { because: 'max_retries' }
    const change = decision === true ? {} : decision
    const hintMs = respectRetryAfter && isProviderError(error) ? error.retry.afterMs : undefined
    if (change.delayMs === undefined && hintMs !== undefined && hintMs > maxRetryAfterMs) {
      return { because: 'retry_after_too_long' }
    }
    const backoffMs = this.#settings.backoff(attempt, this.#lastDelayMs)
    const delayMs = Math.round(change.delayMs ?? hintMs ?? backoffMs)
    if (clock.now() - this.#startedAt + delayMs > maxElapsedMs) return { because: 'max_elapsed' }
    if ((await retryBudget?.takeRetry()) === false) return { because: 'retry_budget' }
    this.#lastDelayMs = delayMs
    return { delayMs, change }
  }
}

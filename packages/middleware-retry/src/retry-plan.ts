import type { RunContext } from '@lamella/core'
import { isProviderError } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import type { Backoff } from './backoff.ts'
import type { RetryBudget } from './retry-budget.ts'
import type { RetryChange, RetryDecision } from './retry-decision.ts'
import type { GiveUpReason, RetryEvent } from './retry-event.ts'

/** Checked settings of a retry middleware, with their defaults. `RetryOptions` documents them. */
export interface RetrySettings {
  readonly name: string
  readonly isShadow: boolean
  readonly backoff: Backoff
  readonly respectRetryAfter: boolean
  readonly maxRetryAfterMs: number
  readonly maxElapsedMs: number
  readonly retryBudget: RetryBudget | undefined
  readonly clock: Clock
  readonly report: (run: RunContext, event: RetryEvent) => void
}

/** A failed try, and what is known about retrying it. */
export interface FailedTry {
  readonly attempt: number
  readonly maxRetries: number
  /** Decision of the provider or of the caller's policy. */
  readonly decision: RetryDecision
  /** Reason that rules out any further try. */
  readonly obstacle?: GiveUpReason | undefined
  readonly error?: unknown
}

/** Either a wait before the next try, or the reason why there is none. */
export type RetryPlan =
  | { readonly delayMs: number; readonly change: RetryChange; readonly because?: never }
  | { readonly because: GiveUpReason; readonly delayMs?: never }

/** Plans the waits between the tries of one call. */
export class RetryPlanner {
  readonly #settings: RetrySettings
  readonly #startedAt: number
  #lastDelayMs: number | undefined

  constructor(settings: RetrySettings) {
    this.#settings = settings
    this.#startedAt = settings.clock.now()
  }

  /** Decides on the next try. */
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

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
  /** Makes the backoff of a call from random numbers, its own ones if it has some. */
  readonly backoff: (random: () => number) => Backoff
  readonly respectRetryAfter: boolean
  readonly maxRetryAfterMs: number
  readonly maxElapsedMs: number
  readonly retryBudget: RetryBudget | undefined
  readonly clock: Clock | undefined
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
  readonly #clock: Clock
  readonly #backoff: Backoff
  readonly #startedAt: number
  #lastDelayMs: number | undefined

  constructor(settings: RetrySettings, { clock, random }: RunContext) {
    this.#settings = settings
    this.#clock = settings.clock ?? clock
    this.#backoff = settings.backoff(random)
    this.#startedAt = this.#clock.now()
  }

  /** Waits before the next try. */
  wait(delayMs: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(delayMs, signal)
  }

  /** Decides on the next try. */
  async plan({ attempt, maxRetries, decision, obstacle, error }: FailedTry): Promise<RetryPlan> {
    const { respectRetryAfter, maxRetryAfterMs, maxElapsedMs, retryBudget } = this.#settings
    if (!decision) return { because: 'not_retryable' }
    if (obstacle !== undefined) return { because: obstacle }
    if (attempt > maxRetries) return { because: 'max_retries' }
    const change = decision === true ? {} : decision
    const hintMs = respectRetryAfter && isProviderError(error) ? error.retry.afterMs : undefined
    if (change.delayMs === undefined && hintMs !== undefined && hintMs > maxRetryAfterMs) {
      return { because: 'retry_after_too_long' }
    }
    const backoffMs = this.#backoff(attempt, this.#lastDelayMs)
    const delayMs = Math.round(change.delayMs ?? hintMs ?? backoffMs)
    const elapsedMs = this.#clock.now() - this.#startedAt
    if (elapsedMs + delayMs > maxElapsedMs) return { because: 'max_elapsed' }
    if ((await retryBudget?.takeRetry()) === false) return { because: 'retry_budget' }
    this.#lastDelayMs = delayMs
    return { delayMs, change }
  }
}

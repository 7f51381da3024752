import type { RunContext } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import type { Backoff } from './backoff.ts'
import type { RetryBudget } from './retry-budget.ts'
import type { RetryEvent } from './retry-event.ts'

/** The options of a retry layer, checked, with their defaults. */
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

export type { BackoffOptions, Jitter } from './backoff.ts'
export { ReplyRejectedError } from './reply-rejected-error.ts'
export { retry } from './retry.ts'
export type { RetryOptions } from './retry.ts'
export { retryBudget } from './retry-budget.ts'
export type { RetryBudget, RetryBudgetOptions } from './retry-budget.ts'
export type {
  RetryChange,
  RetryDecision,
  RetryFailure,
  RetryReply,
  ToolRetryFailure,
} from './retry-decision.ts'
export type { GiveUpReason, RetryEvent } from './retry-event.ts'
export type { ExhaustedRetry } from './retry-model-call.ts'
export type { ToolRetryOptions } from './retry-tool-call.ts'
export { timeout } from './timeout.ts'
export type { TimeoutEvent, TimeoutMiddlewares, TimeoutOptions } from './timeout.ts'
export { isTimeoutError, TimeoutError } from './timeout-error.ts'
export type { TimeoutPhase } from './timeout-error.ts'

/** Reason why no further try is made. */
export type GiveUpReason =
  | 'content_released'
  | 'max_elapsed'
  | 'max_retries'
  | 'not_retryable'
  | 'retry_after_too_long'
  | 'retry_budget'
  | 'unsafe_replay'

/** Data of the run event `retry`. */
export interface RetryEvent {
  /**
   * `retrying` before a wait, `recovered` when a retry succeeded, `gave_up` when none is left,
   * `not_owner` when a middleware further out retries this call instead.
   */
  readonly status: 'retrying' | 'recovered' | 'gave_up' | 'not_owner'
  /** `chat` for a model call, `function` for a tool call. */
  readonly level: 'chat' | 'function'
  /** Number of the try that the event is about, from 1. */
  readonly attempt: number
  /** Kind or code of the failure, or the reason of the rejection. */
  readonly reason?: string | undefined
  /** Milliseconds until the next try. */
  readonly delayMs?: number | undefined
  /** Reason why no further try is made, when `status` is `gave_up`. */
  readonly because?: GiveUpReason | undefined
  /** Name of the tool, for a tool call. */
  readonly tool?: string | undefined
  /** True in shadow mode: the event tells what would have been done. */
  readonly shadow?: true | undefined
}

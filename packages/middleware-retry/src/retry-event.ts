/** Why there is no further try. */
export type GiveUpReason =
  | 'content_released'
  | 'max_elapsed'
  | 'max_retries'
  | 'not_retryable'
  | 'retry_after_too_long'
  | 'retry_budget'
  | 'unsafe_replay'

/** What a retry layer tells of its work: the event `retry` of a run. */
export interface RetryEvent {
  /** `not_owner`: a layer further out repeats this call, so this one does not. */
  readonly status: 'retrying' | 'recovered' | 'gave_up' | 'not_owner'
  readonly level: 'chat' | 'function'
  /** The number of the try that it is about, from 1. */
  readonly attempt: number
  /** The kind or code of the failure, or what the reply was rejected for. */
  readonly reason?: string | undefined
  readonly delayMs?: number | undefined
  readonly because?: GiveUpReason | undefined
  /** The name of the tool, of a tool call. */
  readonly tool?: string | undefined
  /** It says what would have been done. */
  readonly shadow?: true | undefined
}

/** Reason why no other client is tried. */
export type FallbackStop = 'content_released' | 'no_client_left' | 'not_qualified' | 'unsafe_replay'

/** Data of the run event `fallback`. */
export interface FallbackEvent {
  /** `switching` to the named client, the named client `served`, or the middleware `gave_up`. */
  readonly status: 'switching' | 'served' | 'gave_up'
  /** Provider of the client in question. */
  readonly provider: string
  /** Name of the client in question, if it has one. */
  readonly client?: string | undefined
  /** Model of the client in question. */
  readonly model?: string | undefined
  /** Kind or code of the failure. */
  readonly reason?: string | undefined
  /** Reason why no other client is tried, when `status` is `gave_up`. */
  readonly because?: FallbackStop | undefined
  /** Parts of the history that the client cannot be sent as they are, in its own words. */
  readonly losses?: readonly string[] | undefined
  /** True in shadow mode: the event tells what would have been done. */
  readonly shadow?: true | undefined
}

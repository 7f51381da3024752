/** Why no other client is asked. */
export type FallbackStop = 'content_released' | 'no_client_left' | 'not_qualified' | 'unsafe_replay'

/** What a fallback layer tells of its work: the event `fallback` of a run. */
export interface FallbackEvent {
  /** `switching` to the named client, the named client `served`, or the layer `gave_up`. */
  readonly status: 'switching' | 'served' | 'gave_up'
  readonly provider: string
  readonly model?: string | undefined
  /** The kind or code of the failure. */
  readonly reason?: string | undefined
  readonly because?: FallbackStop | undefined
  /** What the client cannot be told of the history as it is, in its own words. */
  readonly losses?: readonly string[] | undefined
  /** It says what would have been done. */
  readonly shadow?: true | undefined
}

/** What a circuit breaker tells of its work: the event `circuit_breaker` of a run. */
export interface CircuitBreakerEvent {
  /** `store_failed`: the call went on as if the circuit were closed. */
  readonly status: 'opened' | 'rejected' | 'trying' | 'closed' | 'store_failed'
  /** Such as `openai/gpt-5`. */
  readonly circuit: string
  /** Of the window, where the circuit opened. */
  readonly failures?: number | undefined
  readonly calls?: number | undefined
  /** Milliseconds until a call is let through again. */
  readonly afterMs?: number | undefined
  /** It says what would have been done. */
  readonly shadow?: true | undefined
}

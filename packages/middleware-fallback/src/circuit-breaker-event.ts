/** Data of the run event `circuit_breaker`. */
export interface CircuitBreakerEvent {
  /**
   * `opened`, `closed`: the circuit changed. `rejected`: a call was not made. `trying`: a trial call is
   * made. `store_failed`: the store failed, and the call continued as if the circuit were closed.
   */
  readonly status: 'opened' | 'rejected' | 'trying' | 'closed' | 'store_failed'
  /** Name of the circuit, such as `openai/gpt-5`. */
  readonly circuit: string
  /** Failures in the window, when the circuit opened. */
  readonly failures?: number | undefined
  /** Calls in the window, when the circuit opened. */
  readonly calls?: number | undefined
  /** Milliseconds until a call is let through again. */
  readonly afterMs?: number | undefined
  /** True in shadow mode: the event tells what would have been done. */
  readonly shadow?: true | undefined
}

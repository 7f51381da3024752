import { isProviderError, ProviderError } from '@lamella/core'

/**
 * Thrown when a call is not made because recent calls failed. It is a `ProviderError` of kind
 * `overloaded` that is not retryable, but qualifies for a fallback; `retry.afterMs` is the time until
 * the circuit allows a call.
 */
export class CircuitOpenError extends ProviderError {
  /** Name of the circuit, such as `openai/gpt-5`. */
  readonly circuit: string

  constructor(
    middleware: string,
    circuit: string,
    provider: string,
    { afterMs }: { readonly afterMs?: number | undefined },
  ) {
    super(`${middleware}: the circuit of ${circuit} is open, the call was not made`, {
      kind: 'overloaded',
      provider,
      retry: { retryable: false, afterMs },
      details: { circuit },
    })
    this.circuit = circuit
  }

  override get name(): string {
    return 'CircuitOpenError'
  }
}

/** Tells whether `error` is a `CircuitOpenError` of any installed copy of this package. */
export function isCircuitOpenError(error: unknown): error is CircuitOpenError {
  return isProviderError(error) && 'circuit' in error
}

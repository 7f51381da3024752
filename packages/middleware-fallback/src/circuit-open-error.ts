import { isProviderError, ProviderError } from '@lamella/core'

/**
 * A model call was not made since the ones before it failed. It is a `ProviderError` of kind `overloaded` that
 * is not worth a retry but a fallback; `retry.afterMs` is when the circuit lets a call through again.
 */
export class CircuitOpenError extends ProviderError {
  /** Which circuit, such as `openai/gpt-5`. */
  readonly circuit: string

  constructor(
    layer: string,
    circuit: string,
    provider: string,
    { afterMs }: { readonly afterMs?: number | undefined },
  ) {
    super(`${layer}: the circuit of ${circuit} is open, the call was not made`, {
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

/** Whether `error` is a `CircuitOpenError`, of this copy of the package or another. */
export function isCircuitOpenError(error: unknown): error is CircuitOpenError {
  return isProviderError(error) && 'circuit' in error
}

import { isProviderError, ProviderError } from '@lamella/core'

/** `attempt` is one model call from beginning to end, `total` the whole run. */
export type TimeoutPhase = 'first-update' | 'idle' | 'attempt' | 'total'

/**
 * A model call or a run took too long. It is a `ProviderError` of kind `timeout`, so retry and fallback
 * know it; what took the whole run's time is not worth a retry.
 */
export class TimeoutError extends ProviderError {
  readonly phase: TimeoutPhase
  readonly timeoutMs: number

  constructor(
    layer: string,
    { phase, timeoutMs }: { readonly phase: TimeoutPhase; readonly timeoutMs: number },
    of: { readonly provider: string; readonly replay?: 'safe' | 'unsafe' | undefined },
  ) {
    super(`${layer}: ${words[phase]} ${timeoutMs} ms`, {
      kind: 'timeout',
      provider: of.provider,
      retry: { retryable: phase !== 'total', replay: of.replay ?? 'safe' },
      details: { phase, timeoutMs },
    })
    this.phase = phase
    this.timeoutMs = timeoutMs
  }

  override get name(): string {
    return 'TimeoutError'
  }
}

/** Whether `error` is a `TimeoutError`, of this copy of the package or another. */
export function isTimeoutError(error: unknown): error is TimeoutError {
  return isProviderError(error) && error.kind === 'timeout' && 'phase' in error
}

const words: Readonly<Record<TimeoutPhase, string>> = {
  'first-update': 'no update of the answer within',
  idle: 'nothing more of the answer for',
  attempt: 'no complete answer within',
  total: 'the run was not done within',
}

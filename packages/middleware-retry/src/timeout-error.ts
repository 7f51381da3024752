import { isProviderError, ProviderError } from '@lamella/core'

/**
 * Limit that was exceeded: the first update, the time between updates, one model call (`attempt`), the
 * run (`total`).
 */
export type TimeoutPhase = 'first-update' | 'idle' | 'attempt' | 'total'

/**
 * Thrown when a model call or a run takes too long. It is a `ProviderError` of kind `timeout`, so
 * `retry` and `fallback` handle it; a timeout of the whole run is not retryable.
 */
export class TimeoutError extends ProviderError {
  /** Limit that was exceeded. */
  readonly phase: TimeoutPhase
  /** Value of that limit, in milliseconds. */
  readonly timeoutMs: number

  constructor(
    middleware: string,
    { phase, timeoutMs }: { readonly phase: TimeoutPhase; readonly timeoutMs: number },
    of: { readonly provider: string; readonly replay?: 'safe' | 'unsafe' | undefined },
  ) {
    super(`${middleware}: ${words[phase]} ${timeoutMs} ms`, {
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

/** Tells whether `error` is a `TimeoutError` of any installed copy of this package. */
export function isTimeoutError(error: unknown): error is TimeoutError {
  return isProviderError(error) && error.kind === 'timeout' && 'phase' in error
}

const words: Readonly<Record<TimeoutPhase, string>> = {
  'first-update': 'no update of the answer within',
  idle: 'no further update of the answer for',
  attempt: 'no complete answer within',
  total: 'the run did not end within',
}

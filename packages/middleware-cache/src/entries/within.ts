import { LamellaError } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { unlessAborted } from '@lamella/core/authoring'

/** Limits for waiting. */
export interface Patience {
  readonly clock: Clock
  /** Time limit in milliseconds; `Infinity` for none. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Waits for `work` until the signal aborts or the time limit passes.
 * @throws the signal's reason, or LamellaError `cache_timeout`
 */
export async function within<T>(
  work: Promise<T>,
  { clock, timeoutMs, signal }: Patience,
): Promise<T> {
  if (timeoutMs === Infinity) return signal === undefined ? work : unlessAborted(signal, work)
  const over = new AbortController()
  const limits = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal])
  work.catch(() => {})
  const late = clock.sleep(timeoutMs, limits).then(() => {
    throw new LamellaError(`cache: no answer within ${timeoutMs} ms`, { code: 'cache_timeout' })
  })
  try {
    return await Promise.race([work, late])
  } finally {
    // With a reason, since `abort` makes an error with a stack without one.
    over.abort('answered')
  }
}

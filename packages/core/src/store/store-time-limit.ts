import type { Clock } from '../base/timers.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { unlessAborted } from '../base/promises.ts'

/** Time limit for a store. */
export interface StoreTimeLimit {
  /** Tells the time. */
  readonly clock: Clock
  /** Milliseconds; `Infinity` for no limit. */
  readonly timeoutMs: number
  /** Signal that ends the wait. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Waits for a store until it answers, the time is up, or the signal aborts. The operation itself continues
 * and may still have its effect.
 * @throws the signal's reason, or LamellaError `store_timeout`
 */
export async function withinStoreTime<Value>(
  work: Value | PromiseLike<Value>,
  { clock, timeoutMs, signal }: StoreTimeLimit,
): Promise<Value> {
  if (!(work instanceof Promise)) return work
  if (timeoutMs === Infinity) return signal === undefined ? work : unlessAborted(signal, work)
  const over = new AbortController()
  const limits = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal])
  const late = clock.sleep(timeoutMs, limits).then(() => {
    throw new LamellaError(`the store did not answer within ${timeoutMs} ms`, {
      code: 'store_timeout',
    })
  })
  // Whichever of the two comes second has nobody who listens.
  late.catch(() => {})
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort(ended)
  }
}

/** Spares the making of an error that nobody reads. */
const ended = 'the store has answered'

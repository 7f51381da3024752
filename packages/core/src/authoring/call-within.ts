import { onAbort } from '../base/promises.ts'
import type { Clock } from '../base/timers.ts'
import { isPause } from '../contract/control-flow.ts'
import { isTermination } from '../contract/termination.ts'

/** Time limit of a call. */
export interface CallLimit {
  /** Clock that the call waits with. */
  readonly clock: Clock
  /**
   * Resolves to the error to cancel the call with when the time is up. `over` aborts when the call
   * has ended.
   */
  readonly late: (over: AbortSignal) => Promise<unknown>
}

/**
 * Calls `callNext()` and cancels the call when `late` resolves: the inner signal aborts with that
 * error, and the returned promise rejects with it, even if inner code ignores the signal.
 */
export async function callWithin<Result>(
  context: { signal: AbortSignal },
  callNext: () => Promise<Result>,
  { clock, late }: CallLimit,
): Promise<Result> {
  const outer = context.signal
  const own = new AbortController()
  const over = new AbortController()
  let given: { readonly error: unknown } | undefined
  const limit = late(over.signal).then(async (error): Promise<never> => {
    given = { error }
    own.abort(error)
    // Listeners end first, so that their information about the call is not lost.
    await clock.sleep(0, over.signal, true)
    throw error
  })
  limit.catch(() => {})
  const stop = onAbort(outer, (reason) => own.abort(reason))
  context.signal = own.signal
  try {
    return await Promise.race([callNext(), limit])
  } catch (error) {
    const isOwn = given !== undefined && !outer.aborted && !isTermination(error) && !isPause(error)
    throw isOwn ? given!.error : error
  } finally {
    context.signal = outer
    stop()
    over.abort(ended)
  }
}

/** Avoids creating an error that is never read. */
const ended = 'the call has ended'

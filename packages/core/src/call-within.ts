import type { Clock } from './clock.ts'
import { isPause } from './interrupts.ts'
import { isTermination } from './termination.ts'

export interface CallLimit {
  readonly clock: Clock
  /** Resolves to the error to give up with as soon as it is time. `over` aborts when the call has ended. */
  readonly late: (over: AbortSignal) => Promise<unknown>
}

/**
 * Calls `callNext()`, and gives the call up when `late` resolves: the signal of all that is inside
 * aborts with that error, which this rejects with, also if something inside does not listen.
 */
export async function callWithin<Result>(
  context: { signal: AbortSignal },
  callNext: () => Promise<Result>,
  { clock, late }: CallLimit,
): Promise<Result> {
  const outer = context.signal
  const own = new AbortController()
  const over = new AbortController()
  const follow = (): void => own.abort(outer.reason)
  let given: { readonly error: unknown } | undefined
  const limit = late(over.signal).then(async (error): Promise<never> => {
    given = { error }
    own.abort(error)
    // What listens ends by itself first, so that what it knows of the call is not lost.
    await clock.sleep(0, over.signal)
    throw error
  })
  limit.catch(() => {})
  outer.addEventListener('abort', follow)
  if (outer.aborted) follow()
  context.signal = own.signal
  try {
    return await Promise.race([callNext(), limit])
  } catch (error) {
    const isOwn = given !== undefined && !outer.aborted && !isTermination(error) && !isPause(error)
    throw isOwn ? given!.error : error
  } finally {
    context.signal = outer
    outer.removeEventListener('abort', follow)
    over.abort(ended)
  }
}

/** Spares the making of an error that nobody reads. */
const ended = 'the call has ended'

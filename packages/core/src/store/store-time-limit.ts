import { LamellaError } from '../base/lamella-error.ts'
import { isThenable } from '../base/promises.ts'
import type { WaitLimit } from '../base/waits.ts'
import { withinTime } from '../base/waits.ts'

/**
 * Waits for a store until it answers, the time is up, or the signal aborts. The operation itself continues
 * and may still have its effect.
 * @throws the signal's reason, or LamellaError `store_timeout`
 */
export async function withinStoreTime<Value>(
  work: Value | PromiseLike<Value>,
  limit: WaitLimit,
): Promise<Value> {
  if (!isThenable(work)) return work
  return withinTime(
    work,
    limit,
    () =>
      new LamellaError(`the store did not answer within ${limit.timeoutMs} ms`, {
        code: 'store_timeout',
      }),
  )
}

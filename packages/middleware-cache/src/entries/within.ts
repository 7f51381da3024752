import { LamellaError } from '@lamella/core'
import { withinTime } from '@lamella/core/authoring'

/**
 * Waits for `work` until the signal aborts or the time limit passes.
 * @throws the signal's reason, or LamellaError `cache_timeout`
 */
export function within<T>(work: Promise<T>, limit: Parameters<typeof withinTime>[1]): Promise<T> {
  return withinTime(
    work,
    limit,
    () =>
      new LamellaError(`cache: no answer within ${limit.timeoutMs} ms`, { code: 'cache_timeout' }),
  )
}

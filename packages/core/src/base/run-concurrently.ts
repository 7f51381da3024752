import { onAbort } from './promises.ts'

interface Work {
  /** Runs while nothing else does. */
  readonly exclusive: boolean
  readonly start: (signal: AbortSignal) => Promise<void>
}

/**
 * Runs tasks concurrently, at most `limit` at once, in list order. The first failure, or an abort
 * of `outer`, aborts the others; it is thrown when all have settled.
 */
export async function runConcurrently(
  work: readonly Work[],
  limit: number,
  outer: AbortSignal | undefined,
): Promise<void> {
  const ending = new AbortController()
  const { signal } = ending
  const stop = outer && onAbort(outer, (reason) => ending.abort(reason))
  const running = new Set<Promise<unknown>>()
  for (const { exclusive, start } of work) {
    const most = exclusive ? 1 : limit
    while (running.size >= most) await Promise.race(running)
    if (signal.aborted) break
    const one: Promise<unknown> = start(signal).then(
      () => running.delete(one),
      (error: unknown) => {
        running.delete(one)
        ending.abort(error)
      },
    )
    running.add(one)
    if (exclusive) await one
  }
  await Promise.all(running)
  stop?.()
  signal.throwIfAborted()
}

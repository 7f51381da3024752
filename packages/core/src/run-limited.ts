interface Work {
  /** Runs while nothing else does. */
  readonly exclusive: boolean
  readonly start: (signal: AbortSignal) => Promise<void>
}

/**
 * Runs work side by side, at most `limit` at once, in list order. The first failure aborts the
 * others; it is thrown when all have settled.
 */
export async function runLimited(
  work: readonly Work[],
  limit: number,
  outer: AbortSignal,
): Promise<void> {
  const failure = new AbortController()
  const signal = AbortSignal.any([outer, failure.signal])
  const running = new Set<Promise<void>>()
  for (const { exclusive, start } of work) {
    const most = exclusive ? 1 : limit
    while (running.size >= most) await Promise.race(running)
    if (signal.aborted) break
    const one = start(signal)
      .catch((error: unknown) => failure.abort(error))
      .finally(() => running.delete(one))
    running.add(one)
    if (exclusive) await one
  }
  await Promise.all(running)
  failure.signal.throwIfAborted()
  outer.throwIfAborted()
}

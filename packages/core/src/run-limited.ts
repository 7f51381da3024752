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
  const controller = new AbortController()
  const onAbort = (): void => controller.abort(outer.reason)
  if (outer.aborted) onAbort()
  outer.addEventListener('abort', onAbort)
  const running = new Set<Promise<void>>()
  let failure: { readonly error: unknown } | undefined
  try {
    for (const { exclusive, start } of work) {
      const most = exclusive ? 1 : limit
      while (running.size >= most) await Promise.race(running)
      if (controller.signal.aborted) break
      const one = start(controller.signal)
        .catch((error: unknown) => {
          failure ??= { error }
          controller.abort(error)
        })
        .finally(() => running.delete(one))
      running.add(one)
      if (exclusive) await one
    }
    await Promise.all(running)
  } finally {
    outer.removeEventListener('abort', onAbort)
  }
  if (failure !== undefined) throw failure.error
  outer.throwIfAborted()
}

/**
 * Resolves as `work`, or rejects with the signal's reason as soon as it aborts, even if `work`
 * ignores the signal. With `graceMs`, `work` has that time to end by itself.
 */
export function unlessAborted<Value>(
  signal: AbortSignal,
  work: PromiseLike<Value>,
  graceMs?: number,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = onAbort(signal, (reason) => {
      if (graceMs === undefined) reject(reason)
      else timer = setTimeout(reject, graceMs, reason)
    })
    const settled =
      <Result>(settle: (result: Result) => void) =>
      (result: Result): void => {
        stop()
        clearTimeout(timer)
        settle(result)
      }
    work.then(settled(resolve), settled(reject))
  })
}

/** Calls `listener` with the reason when `signal` aborts, at once if it has. Returns what ends that. */
export function onAbort(signal: AbortSignal, listener: (reason: unknown) => void): () => void {
  const tell = (): void => listener(signal.reason)
  if (signal.aborted) tell()
  else signal.addEventListener('abort', tell)
  return () => signal.removeEventListener('abort', tell)
}

/** Returns true for a promise, also one of another library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === 'function'
}

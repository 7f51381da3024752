/**
 * Resolves as `work`, or rejects with the signal's reason as soon as it aborts, even if `work`
 * ignores the signal.
 */
export function unlessAborted<Value>(
  signal: AbortSignal,
  work: PromiseLike<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, reject)
    work.then(
      (value) => {
        stop()
        resolve(value)
      },
      (error: unknown) => {
        stop()
        reject(error)
      },
    )
  })
}

/** Calls `listener` with the reason when `signal` aborts, at once if it has. Returns what ends that. */
export function onAbort(signal: AbortSignal, listener: (reason: unknown) => void): () => void {
  const tell = (): void => listener(signal.reason)
  if (signal.aborted) tell()
  else signal.addEventListener('abort', tell)
  return () => signal.removeEventListener('abort', tell)
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === 'function'
}

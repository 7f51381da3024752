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

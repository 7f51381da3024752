import { onAbort } from './promises.ts'

/** Clock for middlewares that wait, their option `clock`, so that tests need no real time. */
export interface Clock {
  /** Returns the time in milliseconds since a fixed moment. */
  now(): number
  /** Waits for `ms` milliseconds; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Clock of the machine. The default of every `clock` option. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        stop?.()
        resolve()
      }, ms)
      const stop =
        signal &&
        onAbort(signal, (reason) => {
          clearTimeout(timer)
          reject(reason)
        })
    }),
}

/**
 * Longest delay of a timer in milliseconds: timers count in 31 bits, and a longer one fires at
 * once.
 */
export const longestTimerMs: number = 2 ** 31 - 1

/** Starts a timer that does not keep the process alive. Delays are limited to `longestTimerMs`. */
export function backgroundTimer(work: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(work, Math.min(ms, longestTimerMs))
  // Not on the Web, where a timer is a number.
  const { unref } = timer as unknown as { readonly unref?: () => void }
  unref?.call(timer)
  return timer
}

/** Calls `work` after a time by the clock, unless the returned function is called before. */
export function callLater(clock: Clock, ms: number, work: () => void): () => void {
  if (clock === systemClock) {
    const timer = setTimeout(work, ms)
    return () => clearTimeout(timer)
  }
  const over = new AbortController()
  clock.sleep(ms, over.signal).then(work, () => {})
  return () => over.abort()
}

/** Limits of a wait. */
export interface WaitLimit {
  /** Tells the time. */
  readonly clock: Clock
  /** Milliseconds; `Infinity` for no limit. */
  readonly timeoutMs: number
  /** Signal that ends the wait with its reason. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Settles like `work`, but rejects as soon as the signal aborts, and with the error that `late` makes when
 * the time is up. The work itself continues and may still have its effect.
 */
export function withinTime<Value>(
  work: PromiseLike<Value>,
  { clock, timeoutMs, signal }: WaitLimit,
  late: () => unknown,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let stopTimer: (() => void) | undefined
    let stopListening: (() => void) | undefined
    const settled =
      <Result>(settle: (result: Result) => void) =>
      (result: Result): void => {
        stopTimer?.()
        stopListening?.()
        settle(result)
      }
    work.then(settled(resolve), settled(reject))
    if (signal !== undefined) stopListening = onAbort(signal, settled(reject))
    if (timeoutMs !== Infinity && signal?.aborted !== true)
      stopTimer = callLater(clock, timeoutMs, () => settled(reject)(late()))
  })
}

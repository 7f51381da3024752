import { onAbort } from './promises.ts'

/** Clock for middleware that waits, its option `clock`, so that tests need no real time. */
export interface Clock {
  /** Returns the time in milliseconds since a fixed moment. */
  now(): number
  /**
   * Waits for `ms` milliseconds; rejects with the signal's reason as soon as it aborts. With `isLimit`, it is a
   * limit of other work, which mostly ends before.
   */
  sleep(ms: number, signal?: AbortSignal, isLimit?: boolean): Promise<void>
}

/** Clock of the machine. The default of every `clock` option. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise<void>((resolve, reject) => {
      const stopTimer = startTimer(() => {
        stopListening?.()
        resolve()
      }, ms)
      const stopListening =
        signal &&
        onAbort(signal, (reason) => {
          stopTimer()
          reject(reason)
        })
    }),
}

/**
 * Longest delay of one timer of the platform in milliseconds, about 25 days: timers count in 31
 * bits, and a longer one fires at once. A clock and `callLater` wait longer than that; an SDK that
 * takes a time limit does not.
 */
export const longestTimerMs: number = 2 ** 31 - 1

/** Starts a timer of any length that keeps the process alive. Returns a function that stops it. */
function startTimer(work: () => void, ms: number, mayExit = false): () => void {
  const firstMs = Math.min(ms, longestTimerMs)
  const begunAt = Date.now()
  const isOver = (): void => {
    // A timer may fire before the clock says so. A clock that was set back or stands still does not count.
    const earlyMs = firstMs - (Date.now() - begunAt)
    const restMs = ms - firstMs + (earlyMs < firstMs / 2 ? Math.max(0, earlyMs) : 0)
    if (restMs > 0) stopRest = startTimer(work, restMs, mayExit)
    else work()
  }
  const timer = setTimeout(isOver, firstMs)
  // Not on the Web, where a timer is a number.
  if (mayExit) (timer as unknown as { readonly unref?: () => void }).unref?.()
  let stopRest = (): void => clearTimeout(timer)
  return () => stopRest()
}

/**
 * Calls `work` after a time, however long, unless the returned function is called before. The time is over for
 * `Date.now()` too. It does not keep the process alive. `Infinity` is never over.
 */
export function backgroundTimer(work: () => void, ms: number): () => void {
  return ms === Infinity ? () => {} : startTimer(work, ms, true)
}

/**
 * Calls `work` after a time by the clock, however long, unless the returned function is called
 * before. `Infinity` is never over.
 */
export function callLater(clock: Clock, ms: number, work: () => void): () => void {
  if (ms === Infinity) return () => {}
  if (clock === systemClock) return startTimer(work, ms)
  const over = new AbortController()
  clock.sleep(ms, over.signal, true).then(work, () => {})
  return () => over.abort()
}

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

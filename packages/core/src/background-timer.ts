/** The longest delay in milliseconds: timers count in 31 bits, and what is longer fires at once. */
export const longestTimerMs: number = 2 ** 31 - 1

/** A timer that keeps no process alive. One that is too long to count waits as long as timers can. */
export function backgroundTimer(work: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(work, Math.min(ms, longestTimerMs))
  // Not on the Web, where a timer is a number.
  const { unref } = timer as unknown as { readonly unref?: () => void }
  unref?.call(timer)
  return timer
}

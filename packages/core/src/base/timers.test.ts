import { expect, test, vi } from 'vitest'
import type { Clock } from './timers.ts'
import { backgroundTimer, callLater, systemClock } from './timers.ts'

test('a time that has passed leaves no listener on its signal', async () => {
  const { signal } = new AbortController()
  const removed = vi.spyOn(signal, 'removeEventListener')

  await systemClock.sleep(0, signal)

  expect(removed).toHaveBeenCalledOnce()
})

test('an abort ends the wait with its reason, and its timer', async () => {
  vi.useFakeTimers()
  const controller = new AbortController()

  const waiting = systemClock.sleep(1000, controller.signal)
  controller.abort(new Error('enough'))
  const timers = vi.getTimerCount()
  vi.useRealTimers()

  await expect(waiting).rejects.toThrow('enough')
  expect(timers).toBe(0)
})

test('work that is called later goes by the clock, and not once it is stopped', async () => {
  const over: (() => void)[] = []
  const clock: Clock = {
    now: () => 0,
    sleep: (_ms, signal) =>
      new Promise((resolve, reject) => {
        over.push(() => (signal?.aborted === true ? reject(signal.reason as Error) : resolve()))
      }),
  }
  const work = vi.fn<(name: string) => void>()

  callLater(clock, 5, () => work('first'))
  const stop = callLater(clock, 5, () => work('stopped'))
  stop()
  for (const end of over) end()
  await Promise.resolve()

  expect(work).toHaveBeenCalledExactlyOnceWith('first')
})

test('a time longer than a timer of the platform is waited for in full', async () => {
  vi.useFakeTimers()
  const monthMs = 30 * 24 * 3600 * 1000
  const work = vi.fn<() => void>()
  const stopped = vi.fn<() => void>()

  const sleeping = systemClock.sleep(monthMs).then(work)
  callLater(systemClock, monthMs, work)
  const stop = callLater(systemClock, monthMs, stopped)
  callLater(systemClock, Infinity, stopped)
  await vi.advanceTimersByTimeAsync(monthMs - 1)
  const before = work.mock.calls.length
  stop()
  await vi.advanceTimersByTimeAsync(1)
  await sleeping
  const timers = vi.getTimerCount()
  vi.useRealTimers()

  expect([before, work.mock.calls.length, timers]).toEqual([0, 2, 0])
  expect(stopped).not.toHaveBeenCalled()
})

test('a timer that fires early waits until the clock says so, if the clock moves', async () => {
  vi.useFakeTimers({ now: 0 })
  const [early, setBack] = [vi.fn<() => void>(), vi.fn<() => void>()]

  callLater(systemClock, 1000, early)
  await vi.advanceTimersByTimeAsync(999)
  vi.setSystemTime(998)
  await vi.advanceTimersByTimeAsync(1)
  const before = early.mock.calls.length
  await vi.advanceTimersByTimeAsync(1)
  const after = early.mock.calls.length
  backgroundTimer(setBack, 1000)
  vi.setSystemTime(0)
  await vi.advanceTimersByTimeAsync(1000)
  vi.useRealTimers()

  expect([before, after]).toEqual([0, 1])
  expect(setBack).toHaveBeenCalledOnce()
})

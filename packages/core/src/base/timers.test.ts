import { describe, expect, test, vi } from 'vitest'
import type { Clock } from './timers.ts'
import { callLater, systemClock, withinTime } from './timers.ts'

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

describe('a wait with a limit', () => {
  const never = new Promise<never>(() => {})
  const late = () => new Error('late')

  test.each([systemClock, { ...systemClock }])(
    'settles like the work, and leaves no timer and no listener',
    async (clock) => {
      vi.useFakeTimers()
      const { signal } = new AbortController()
      const removed = vi.spyOn(signal, 'removeEventListener')
      const limit = { clock, timeoutMs: 5, signal }

      const good = await withinTime(Promise.resolve(1), limit, late)
      const bad = withinTime(Promise.reject(new Error('no')), limit, late)
      await expect(bad).rejects.toThrow('no')
      const timers = vi.getTimerCount()
      vi.useRealTimers()

      expect([good, timers]).toEqual([1, 0])
      expect(removed).toHaveBeenCalledTimes(2)
    },
  )

  test('ends at its time, or never', async () => {
    vi.useFakeTimers()
    const limit = { clock: systemClock, timeoutMs: 5 }

    const waiting = Promise.allSettled([withinTime(never, limit, late)])
    void withinTime(never, { ...limit, timeoutMs: Infinity }, late)
    await vi.advanceTimersByTimeAsync(5)
    const timers = vi.getTimerCount()
    vi.useRealTimers()

    expect(await waiting).toEqual([{ status: 'rejected', reason: new Error('late') }])
    expect(timers).toBe(0)
  })

  test('ends with the reason of an abort, before and while it lasts', async () => {
    vi.useFakeTimers()
    const controller = new AbortController()
    const limit = { clock: systemClock, timeoutMs: 5, signal: controller.signal }

    const waits = [withinTime(never, limit, late)]
    controller.abort(new Error('enough'))
    waits.push(withinTime(never, limit, late))
    const timers = vi.getTimerCount()
    vi.useRealTimers()

    for (const wait of waits) await expect(wait).rejects.toThrow('enough')
    expect(timers).toBe(0)
  })
})

import { describe, expect, test, vi } from 'vitest'
import { systemClock } from './timers.ts'
import { takeTurn, unlessAborted, withinTime } from './waits.ts'

const never = new Promise<never>(() => {})

/** Waits until nothing but promises is left to wait for. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

function setUp() {
  const turns = new Map<string, Promise<void>>()
  const entered: string[] = []
  const enter = (name: string, signal = new AbortController().signal): Promise<() => void> =>
    takeTurn(turns, 'key', signal).then((end) => {
      entered.push(name)
      return end
    })
  return { turns, entered, enter }
}

test('turns of one key come one after the other, and leave nothing behind', async () => {
  const { turns, entered, enter } = setUp()
  const [first, second, third] = [enter('first'), enter('second'), enter('third')]

  const end = await first
  await settle()
  expect(entered).toEqual(['first'])
  end()
  const endSecond = await second
  await settle()
  expect(entered).toEqual(['first', 'second'])
  expect(turns.size).toBe(1)
  endSecond()
  const endThird = await third
  endThird()
  await settle()

  expect(entered).toEqual(['first', 'second', 'third'])
  expect(turns.size).toBe(0)
})

test('a turn that begins while another one waits comes behind it', async () => {
  const { entered, enter } = setUp()
  const end = await enter('first')
  const second = enter('second')

  end()
  await second
  void enter('third')
  await settle()

  expect(entered).toEqual(['first', 'second'])
})

test('who gives up lets nobody enter before their turn', async () => {
  const { entered, enter } = setUp()
  const end = await enter('first')
  const second = enter('second', AbortSignal.abort('enough'))
  const third = enter('third')

  await expect(second).rejects.toBe('enough')
  await settle()
  expect(entered).toEqual(['first'])
  end()
  await third

  expect(entered).toEqual(['first', 'third'])
})

test('work that settles is given as it is', async () => {
  const { signal } = new AbortController()

  await expect(unlessAborted(signal, Promise.resolve(1))).resolves.toBe(1)
  await expect(unlessAborted(signal, Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('an abort ends the wait with its reason, before or while it lasts', async () => {
  const own = new AbortController()
  const reason = new Error('enough')
  const waiting = unlessAborted(own.signal, never)
  own.abort(reason)

  await expect(waiting).rejects.toBe(reason)
  await expect(unlessAborted(own.signal, never)).rejects.toBe(reason)
})

describe('a wait with a limit', () => {
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

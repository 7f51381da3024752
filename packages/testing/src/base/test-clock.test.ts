import { describe, expect, it } from 'vitest'
import { testClock, testRandom } from '../index.ts'

describe('a test clock', () => {
  it('stands still until it is moved', async () => {
    const clock = testClock(1000)
    const woken: string[] = []

    void clock.sleep(50).then(() => woken.push('50'))
    await clock.advance(49)
    const before = [...woken]
    await clock.advance(1)

    expect(before).toEqual([])
    expect(woken).toEqual(['50'])
    expect(clock.now()).toBe(1050)
  })

  it('wakes sleepers in order, each at its own moment, also those that fall asleep again', async () => {
    const clock = testClock()
    const woken: string[] = []
    const sleepTwice = async (name: string, ms: number): Promise<void> => {
      for (let turn = 0; turn < 2; turn++) {
        await clock.sleep(ms)
        woken.push(`${name} at ${clock.now()}`)
      }
    }

    const done = Promise.all([sleepTwice('slow', 30), sleepTwice('fast', 20)])
    await clock.advance(100)
    await done

    expect(woken).toEqual(['fast at 20', 'slow at 30', 'fast at 40', 'slow at 60'])
    expect(clock.now()).toBe(100)
  })

  it('wakes a sleeper with the reason when its signal aborts', async () => {
    const clock = testClock()
    const controller = new AbortController()
    const reason = new Error('up')

    const sleep = clock.sleep(1000, controller.signal)
    const sleeping = clock.sleeping
    controller.abort(reason)

    await expect(sleep).rejects.toBe(reason)
    await expect(clock.sleep(1, controller.signal)).rejects.toBe(reason)
    expect([sleeping, clock.sleeping]).toEqual([1, 0])
  })

  it('does not go backwards', async () => {
    await expect(testClock().advance(-1)).rejects.toThrow('got -1')
  })
})

it('random numbers are the same for the same seed and lie in [0, 1)', () => {
  const [left, right, other] = [testRandom(7), testRandom(7), testRandom(8)]

  const numbers = Array.from({ length: 1000 }, () => left())

  expect(numbers).toEqual(Array.from({ length: 1000 }, () => right()))
  expect(numbers[0]).not.toBe(other())
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true)
  expect(Math.abs(numbers.reduce((sum, number) => sum + number) / 1000 - 0.5)).toBeLessThan(0.05)
})

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StallTimer } from './stall-timer.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const timeouts = { firstUpdateTimeoutMs: 100, idleTimeoutMs: 60 }

test('without an update the first limit counts from the start, whatever else arrives', () => {
  const onStall = vi.fn<(words: string) => void>()
  const timer = new StallTimer(timeouts, onStall)

  timer.wait()
  vi.advanceTimersByTime(90)
  timer.alive(false)
  vi.advanceTimersByTime(9)
  const early = onStall.mock.calls.length
  vi.advanceTimersByTime(2)

  expect(early).toBe(0)
  expect(onStall).toHaveBeenCalledExactlyOnceWith('no answer within 100 ms')
})

test('a wait at the end of its time is a stall, which is told once', () => {
  const onStall = vi.fn<(words: string) => void>()
  const timer = new StallTimer(timeouts, onStall)

  timer.wait()
  vi.advanceTimersByTime(100)
  expect(onStall).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1000)

  expect(onStall).toHaveBeenCalledTimes(1)
})

test('pauses of the consumer do not lengthen the wait for the first update', () => {
  const onStall = vi.fn<(words: string) => void>()
  const timer = new StallTimer(timeouts, onStall)

  timer.wait()
  vi.advanceTimersByTime(90)
  timer.rest()
  timer.wait()
  vi.advanceTimersByTime(9)
  const early = onStall.mock.calls.length
  vi.advanceTimersByTime(1)

  expect(early).toBe(0)
  expect(onStall).toHaveBeenCalledTimes(1)
})

test('after an update any data counts, comments too', () => {
  const onStall = vi.fn<(words: string) => void>()
  const timer = new StallTimer(timeouts, onStall)

  timer.wait()
  timer.alive(true)
  timer.rest()
  timer.wait()
  for (let comments = 0; comments < 5; comments++) {
    vi.advanceTimersByTime(50)
    timer.alive(false)
  }
  const early = onStall.mock.calls.length
  vi.advanceTimersByTime(61)

  expect(early).toBe(0)
  expect(onStall).toHaveBeenCalledExactlyOnceWith('no data for 60 ms')
})

test('a slow consumer is no stall', () => {
  const onStall = vi.fn<(words: string) => void>()
  const timer = new StallTimer(timeouts, onStall)

  timer.wait()
  timer.alive(true)
  timer.rest()
  vi.advanceTimersByTime(1000)
  timer.wait()
  vi.advanceTimersByTime(59)

  expect(onStall).not.toHaveBeenCalled()
})

test('a consumer that pauses beyond the limit has the whole limit again afterwards', () => {
  const onStall = vi.fn<(words: string) => void>()
  const timer = new StallTimer(timeouts, onStall)
  timer.wait()
  timer.alive(true)
  timer.rest()
  timer.wait()
  timer.rest()

  vi.advanceTimersByTime(1000)
  timer.wait()
  vi.advanceTimersByTime(59)
  const early = onStall.mock.calls.length
  vi.advanceTimersByTime(1)

  expect(early).toBe(0)
  expect(onStall).toHaveBeenCalledExactlyOnceWith('no data for 60 ms')
})

test('a pause shorter than the limit does not count to the wait after it', () => {
  const onStall = vi.fn<(words: string) => void>()
  const timer = new StallTimer(timeouts, onStall)
  timer.wait()
  timer.alive(true)
  timer.rest()

  timer.wait()
  timer.rest()
  vi.advanceTimersByTime(50)
  timer.wait()
  vi.advanceTimersByTime(59)
  const early = onStall.mock.calls.length
  vi.advanceTimersByTime(1)

  expect(early).toBe(0)
  expect(onStall).toHaveBeenCalledTimes(1)
})

test('no timer is left behind the end, nor started without a limit', () => {
  const limited = new StallTimer(timeouts, () => {})
  limited.wait()
  limited.stop()
  new StallTimer({ firstUpdateTimeoutMs: Infinity, idleTimeoutMs: Infinity }, () => {}).wait()

  expect(vi.getTimerCount()).toBe(0)
})

test('limits that no timer can count are waited for all the same', () => {
  const onStall = vi.fn<(words: string) => void>()

  for (const limit of [2 ** 33, Infinity]) {
    new StallTimer({ firstUpdateTimeoutMs: limit, idleTimeoutMs: limit }, onStall).wait()
  }
  vi.advanceTimersByTime(2 ** 31)

  expect(onStall).not.toHaveBeenCalled()
})

import { expect, test, vi } from 'vitest'
import { boundedFailure } from './bounded-failure.ts'

/** A body that begins and never ends. */
function endless(onCancel: () => void = () => {}): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"error":')),
    cancel: onCancel,
  })
}

test('the body of a failure ends in time, with what has come, and its connection is closed', async () => {
  vi.useFakeTimers()
  const onCancel = vi.fn<() => void>()
  const headers = { 'x-id': '7' }

  const bounded = boundedFailure(new Response(endless(onCancel), { status: 503, headers }), 20)
  const text = bounded.text()
  await vi.advanceTimersByTimeAsync(21)
  vi.useRealTimers()

  expect([bounded.status, bounded.headers.get('x-id'), await text]).toEqual([503, '7', '{"error":'])
  expect(onCancel).toHaveBeenCalledOnce()
})

test('a body that ends, breaks or is left keeps no timer, and no connection', async () => {
  vi.useFakeTimers()
  const failing = new ReadableStream({ start: (controller) => controller.error(new Error('cut')) })

  const onCancel = vi.fn<() => void>()

  const [whole, broken, left] = ['{}', failing, endless(onCancel)].map((body) =>
    boundedFailure(new Response(body, { status: 500 }), 20),
  )
  await whole!.text()
  // Browsers have words of their own for it.
  await expect(broken!.text()).rejects.toThrow(/cut|fetch/)
  await left!.body!.cancel()
  const timers = vi.getTimerCount()
  vi.useRealTimers()

  expect(timers).toBe(0)
  expect(onCancel).toHaveBeenCalledOnce()
})

test('answers, empty bodies and endless patience are left as they are', () => {
  const answer = new Response(endless())
  const empty = new Response(null, { status: 500 })
  const patient = new Response('no', { status: 500 })

  expect(boundedFailure(answer, 20)).toBe(answer)
  expect(boundedFailure(empty, 20)).toBe(empty)
  expect(boundedFailure(patient, Infinity)).toBe(patient)
})

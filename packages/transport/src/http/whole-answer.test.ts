import { expect, onTestFinished, test, vi } from 'vitest'
import { InBandFailure, TransportFault } from '../failures/transport-fault.ts'
import type { WholeCall } from './whole-answer.ts'
import { readWhole, responseOf } from './whole-answer.ts'

function call(body: string | ReadableStream | null, more: Partial<WholeCall> = {}): WholeCall {
  return {
    open: async () => new Response(body, { headers: { 'x-id': '7' } }),
    signal: new AbortController().signal,
    isAnswer: (answer) => 'said' in answer,
    wanted: 'a saying',
    reportIn: ({ error }) => error,
    toError: (cause, { headers }) => ({ cause, id: headers?.get('x-id') }),
    bodyTimeoutMs: Infinity,
    ...more,
  }
}

const open = new ReadableStream<Uint8Array>()

test('an answer comes with its headers', async () => {
  const { body, headers } = await readWhole(call('{"said":"a"}'))

  expect([body, headers.get('x-id')]).toEqual([{ said: 'a' }, '7'])
})

test.each([
  ['{"error":"no"}', new InBandFailure('no')],
  ['', new TransportFault('server', 'the answer is empty instead of a saying')],
  [
    '[1]',
    new TransportFault('server', 'the answer is text instead of a saying', { retryable: true }),
  ],
  [
    '{"a":1}',
    new TransportFault('server', 'the answer is JSON instead of a saying', { retryable: false }),
  ],
])('%j is no answer, and says why', async (body, cause) => {
  await expect(readWhole(call(body))).rejects.toEqual({ cause, id: '7' })
})

test('what `open` fails with is made an error of the provider', async () => {
  const failing = call(null, { open: () => Promise.reject(new Error('refused')) })

  await expect(readWhole(failing)).rejects.toEqual({ cause: new Error('refused'), id: undefined })
})

test('an abort rejects at once with its reason, before and within the body', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const sent = vi.fn<WholeCall['open']>(() => new Promise(() => {}))

  const waiting = [readWhole(call(null, { signal, open: sent })), readWhole(call(open, { signal }))]
  controller.abort('enough')
  waiting.push(readWhole(call(null, { signal, open: sent })))

  const outcomes = await Promise.allSettled(waiting)
  expect(outcomes.map((each) => each.status === 'rejected' && each.reason)).toEqual(
    Array<string>(3).fill('enough'),
  )
  expect(sent).toHaveBeenCalledTimes(1)
  expect(sent.mock.calls[0]![0].aborted).toBe(true)
})

test('a body that stalls behind its headers is a timeout', async () => {
  vi.useFakeTimers()
  const stalled = call(new ReadableStream<Uint8Array>(), { bodyTimeoutMs: 20 })

  const [outcome] = await Promise.all([
    Promise.allSettled([readWhole(stalled)]),
    vi.advanceTimersByTimeAsync(21),
  ])
  vi.useRealTimers()

  expect(outcome).toMatchObject([
    {
      reason: {
        cause: { kind: 'timeout', words: 'no complete answer within 20 ms of its headers' },
        id: '7',
      },
    },
  ])
})

test('an answer leaves no timer behind, and has none without a limit', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let timers = -1
  const isAnswer = (): boolean => {
    timers = vi.getTimerCount()
    return true
  }

  await readWhole(call('{"said":"a"}', { bodyTimeoutMs: 20, isAnswer }))
  const limited = [timers, vi.getTimerCount()]
  await readWhole(call('{"said":"a"}', { isAnswer }))

  expect([limited, timers]).toEqual([[1, 0], 0])
})

test('a value that no mapper can read is a failure of the provider, with what was read before', () => {
  const broken = new TypeError('Cannot convert object to primitive value')
  const answer = { body: {}, headers: new Headers() }
  const words = 'the answer has a value of a type that cannot be read'

  const read = () =>
    responseOf(answer, {
      headerUpdates: () => [],
      toError: (cause, { partial }) => ({ cause, text: partial?.text }),
      mapper: () => ({
        whole(_, updates) {
          updates.push({ contents: [{ type: 'text', text: 'Hi' }] })
          throw broken
        },
      }),
    })

  expect(read).toThrow(
    expect.objectContaining({
      cause: new TransportFault('server', words, { cause: broken }),
      text: 'Hi',
    }),
  )
})

import { expect, test, vi } from 'vitest'
import type { ChatResponseUpdate } from '@lamella/core'
import type { EventMapper, EventStreamCall } from './event-stream.ts'
import { readEventStream } from './event-stream.ts'
import { InBandFailure, TransportFault } from '../failures/transport-fault.ts'
import { recordOf, stringOf } from '../wire/wire.ts'

/** An API with events `{ "say": … }` and `{ "over": true }`. */
class Sayings implements EventMapper {
  isOver = false

  map(event: unknown, updates: ChatResponseUpdate[]): void {
    const { say, over } = recordOf(event)
    const text = stringOf(say)
    if (text !== undefined) updates.push({ contents: [{ type: 'text', text }] })
    this.isOver = over === true
  }

  end(hasDoneMarker: boolean): boolean {
    return this.isOver || hasDoneMarker
  }
}

const say = (word: string): string => `data: {"say":"${word}"}\n\n`
const over = 'data: {"over":true}\n\n'

interface Sent {
  readonly response: Response
  readonly isCancelled: () => boolean
  /** True if it was read to its end. */
  readonly isRead: () => boolean
}

const { signal: never } = new AbortController()

/** An answer with these chunks. `null` at the end leaves it open, an error breaks it. */
function sent(chunks: readonly (string | null | Error)[], type = 'text/event-stream'): Sent {
  let at = 0
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = chunks[at++]
      if (chunk === undefined) controller.close()
      else if (chunk instanceof Error) controller.error(chunk)
      else if (chunk === null) await new Promise(() => {})
      else controller.enqueue(new TextEncoder().encode(chunk))
    },
    cancel() {
      isCancelled = true
    },
  })
  const headers = { 'content-type': type, 'x-limit': '7' }
  return {
    response: new Response(body, { headers }),
    isCancelled: () => isCancelled,
    isRead: () => at > chunks.length,
  }
}

/** The error says what it was made of. */
class Told extends Error {
  readonly facts: unknown

  constructor(facts: unknown) {
    super('told')
    this.facts = facts
  }
}

function guarded(answer: Pick<Sent, 'response'> | undefined, more: Partial<EventStreamCall> = {}) {
  return readEventStream({
    open: async () => answer?.response ?? new Promise<Response>(() => {}),
    signal: never,
    mapper: () => new Sayings(),
    errorIn: ({ error }) => error,
    reportIn: ({ error }) => error,
    toError: (cause, { partial, headers }) =>
      new Told({ cause, text: partial?.text, limit: headers?.get('x-limit') ?? undefined }),
    timeouts: { firstUpdateTimeoutMs: Infinity, idleTimeoutMs: Infinity },
    ...more,
  })
}

async function read(
  stream: AsyncIterable<ChatResponseUpdate>,
): Promise<{ words: string[]; facts: unknown }> {
  const words: string[] = []
  try {
    for await (const { contents } of stream) {
      for (const content of contents) if (content.type === 'text') words.push(content.text)
    }
  } catch (error) {
    return { words, facts: error instanceof Told ? error.facts : error }
  }
  return { words, facts: undefined }
}

test.each([
  ['one chunk', [say('a') + say('b') + over]],
  ['chunks of several', [say('a') + say('b'), over]],
  ['many', [say('a'), ': comment\n\n', say('b').slice(0, 9), say('b').slice(9), over]],
  ['a done marker', [say('a'), `${say('b')}data: [DONE]\n\n`]],
  ['no blank line at the end', [say('a'), say('b') + over.trimEnd()]],
  ['front of more', [say('a'), say('b') + over + say('c')]],
])('an answer in %s is read to its end', async (_, chunks) => {
  expect(await read(guarded(sent(chunks)))).toEqual({ words: ['a', 'b'], facts: undefined })
})

test.each([
  ['an end that is none', [say('a')], 'the stream broke off before its end'],
  ['half an event', [say('a'), 'data: {"say'], 'the stream broke off inside an event'],
  ['no JSON', [say('a'), 'data: {"say\n\n'], 'an event of the stream is not JSON'],
])('%s is a truncation, with what had arrived', async (_, chunks, words) => {
  expect(await read(guarded(sent(chunks)))).toEqual({
    words: ['a'],
    facts: { cause: new TransportFault('truncated_stream', words), text: 'a', limit: '7' },
  })
})

test('the updates before an error in the same chunk are handed out, and the body is closed', async () => {
  const answer = sent([`${say('a')}data: {"error":"no"}\n\n`, null])

  expect(await read(guarded(answer))).toEqual({
    words: ['a'],
    facts: { cause: new InBandFailure('no'), text: 'a', limit: '7' },
  })
  expect(answer.isCancelled()).toBe(true)
})

test.each([
  ['nothing but a comment', ': hi\n\n', undefined],
  ['text behind an update', `${say('a')}Service: busy\n`, 'a'],
])('%s is a truncation', async (_, chunk, text) => {
  const { facts } = await read(guarded(sent([chunk])))

  const words = 'the stream broke off before its end'
  expect(facts).toEqual({ cause: new TransportFault('truncated_stream', words), text, limit: '7' })
})

test('a failure inside an answer is told even where the answer could end', async () => {
  const isWhole: EventMapper = Object.assign(new Sayings(), { end: () => true })
  const chunks = [`${say('a')}data: {"error":"no"}\n\n`]

  const { facts } = await read(guarded(sent(chunks), { mapper: () => isWhole }))

  expect(facts).toMatchObject({ cause: new InBandFailure('no') })
})

test('a connection that breaks is told, unless the answer is complete by then', async () => {
  const broken = new TypeError('terminated')
  const isWhole: EventMapper = Object.assign(new Sayings(), { end: () => true })

  const early = await read(guarded(sent([say('a'), broken])))
  const late = await read(guarded(sent([say('a'), broken]), { mapper: () => isWhole }))

  expect(early.facts).toEqual({ cause: broken, text: 'a', limit: '7' })
  expect(late).toEqual({ words: ['a'], facts: undefined })
})

test.each([
  ['text/html', '<html>', 'the answer is a web page instead of a stream: is `baseURL` right?'],
  ['application/json', '{}', 'the answer is JSON instead of a stream'],
  ['application/json', ' ', 'the answer is empty instead of a stream'],
  ['text/plain', 'Service: busy', 'the answer is text instead of a stream'],
])('%s in place of events: %s', async (type, body, words) => {
  const { facts } = await read(guarded(sent([body], type)))

  expect(facts).toMatchObject({ cause: { kind: 'server', words } })
})

test('JSON in place of events may report a failure', async () => {
  const { facts } = await read(guarded(sent(['{"error":"no"}'], 'application/json')))

  expect(facts).toMatchObject({ cause: new InBandFailure('no') })
})

test('what the headers tell comes with the first update of the body', async () => {
  const headerUpdates = (headers: Headers): ChatResponseUpdate[] => [
    { contents: [{ type: 'text', text: `limit ${headers.get('x-limit')}` }] },
  ]

  const whole = await read(
    guarded(sent([': hi\n\n', say('a'), say('b') + over]), { headerUpdates }),
  )
  const empty = await read(guarded(sent([over]), { headerUpdates }))

  expect([whole.words, empty.words]).toEqual([['limit 7', 'a', 'b'], []])
})

test('pulls at the same time are answered in order', async () => {
  const iterator = guarded(sent([say('a') + say('b'), say('c'), over]))[Symbol.asyncIterator]()

  const steps = await Promise.all(Array.from({ length: 5 }, () => iterator.next()))

  const words = steps.map(({ done, value }) => (done ? undefined : value.contents))
  expect(words).toMatchObject([
    [{ text: 'a' }],
    [{ text: 'b' }],
    [{ text: 'c' }],
    undefined,
    undefined,
  ])
})

test('nothing is sent before the first pull, or for a signal that is aborted', async () => {
  const open = vi.fn<EventStreamCall['open']>()
  const stream = guarded(undefined, { open, signal: AbortSignal.abort('before') })

  expect(await read(stream)).toEqual({ words: [], facts: 'before' })
  expect(open).not.toHaveBeenCalled()
})

test('an abort rejects at once with its reason, and closes the body', async () => {
  const controller = new AbortController()
  const answer = sent([say('a'), null])
  const iterator = guarded(answer, { signal: controller.signal })[Symbol.asyncIterator]()
  await iterator.next()

  const pulls = Promise.allSettled([iterator.next(), iterator.next()])
  controller.abort('enough')

  expect(await pulls).toEqual([
    { status: 'rejected', reason: 'enough' },
    { status: 'fulfilled', value: { done: true, value: undefined } },
  ])
  expect(answer.isCancelled()).toBe(true)
})

test('an abort drops what was read and not yet pulled', async () => {
  const controller = new AbortController()
  const answer = sent([say('a') + say('b') + over])
  const iterator = guarded(answer, { signal: controller.signal })[Symbol.asyncIterator]()
  await iterator.next()

  controller.abort('enough')

  await expect(iterator.next()).rejects.toBe('enough')
  expect(await iterator.next()).toEqual({ done: true, value: undefined })
})

test('an abort drops what arrives at the same moment', async () => {
  const controller = new AbortController()
  let arrive: (chunk: string) => void
  const body = new ReadableStream<Uint8Array>({
    start(source) {
      arrive = (chunk) => source.enqueue(new TextEncoder().encode(chunk))
    },
  })
  const stream = guarded({ response: new Response(body) }, { signal: controller.signal })
  const iterator = stream[Symbol.asyncIterator]()
  const first = iterator.next()
  arrive!(say('a'))
  await first

  const second = iterator.next()
  arrive!(say('b'))
  controller.abort('enough')

  await expect(second).rejects.toBe('enough')
  expect(await iterator.next()).toEqual({ done: true, value: undefined })
})

test('an abort is told once, also by an `open` that fails for it', async () => {
  const controller = new AbortController()
  const open: EventStreamCall['open'] = (signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  const stream = guarded(undefined, { open, signal: controller.signal })
  const iterator = stream[Symbol.asyncIterator]()

  const pull = iterator.next()
  controller.abort('enough')

  await expect(pull).rejects.toBe('enough')
  expect(await iterator.next()).toEqual({ done: true, value: undefined })
})

test('an abort behind the last update of a whole answer comes too late', async () => {
  const controller = new AbortController()
  const stream = guarded(sent([say('a') + over]), { signal: controller.signal })
  const iterator = stream[Symbol.asyncIterator]()
  await iterator.next()

  controller.abort('enough')

  expect(await iterator.next()).toEqual({ done: true, value: undefined })
})

test('the signal of a request is aborted unless its answer has come whole', async () => {
  const signals: AbortSignal[] = []
  const opening = (chunks: (string | null)[], signal: AbortSignal = never) =>
    guarded(undefined, {
      open: async (own) => {
        signals.push(own)
        return sent(chunks).response
      },
      signal,
    })
  const controller = new AbortController()

  await read(opening([say('a') + over]))
  await read(opening([say('a')]))
  for await (const _ of opening([say('a'), null])) break
  for await (const _ of opening([say('a'), null], controller.signal)) {
    controller.abort('enough')
    break
  }

  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, true, true])
  expect(signals.at(-1)?.reason).toBe('enough')
})

test('the connection of a whole answer is read to its end, to be used again', async () => {
  const answer = sent([say('a') + over, ': bye\n\n'])

  await read(guarded(answer))

  await expect.poll(() => answer.isRead()).toBe(true)
})

test('a loop that is left closes the body, also one that opens later', async () => {
  const left = sent([say('a'), null])
  for await (const _ of guarded(left)) break
  const late = sent([null])
  let open: (response: Response) => void
  const opening = new Promise<Response>((resolve) => {
    open = resolve
  })
  const iterator = guarded(late, { open: () => opening })[Symbol.asyncIterator]()
  const pull = iterator.next()

  await iterator.return!()
  open!(late.response)

  expect(await pull).toEqual({ done: true, value: undefined })
  await expect.poll(() => [left.isCancelled(), late.isCancelled()]).toEqual([true, true])
})

test('a signal is not left with a listener, whichever way a stream ends', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const added = vi.spyOn(signal, 'addEventListener')
  const removed = vi.spyOn(signal, 'removeEventListener')

  await read(guarded(sent([say('a') + over]), { signal }))
  await read(guarded(sent([say('a')]), { signal }))
  for await (const _ of guarded(sent([say('a') + over]), { signal })) break

  expect(added).toHaveBeenCalledTimes(3)
  for (const [, listener] of added.mock.calls) {
    expect(removed.mock.calls.map(([, each]) => each)).toContain(listener)
  }
})

test('a stall is told with what had arrived', async () => {
  vi.useFakeTimers()
  const timeouts = { firstUpdateTimeoutMs: 50, idleTimeoutMs: 20 }

  const begun = read(guarded(sent([say('a'), null]), { timeouts }))
  const silent = read(guarded(undefined, { timeouts }))
  await vi.advanceTimersByTimeAsync(60)
  vi.useRealTimers()

  expect(await begun).toEqual({
    words: ['a'],
    facts: { cause: new TransportFault('timeout', 'no data for 20 ms'), text: 'a', limit: '7' },
  })
  expect(await silent).toEqual({
    words: [],
    facts: { cause: new TransportFault('timeout', 'no answer within 50 ms') },
  })
})

test('comments are no first update', async () => {
  vi.useFakeTimers()
  const timeouts = { firstUpdateTimeoutMs: 50, idleTimeoutMs: 20 }

  const commented = read(guarded(sent([': hi\n\n', null]), { timeouts }))
  await vi.advanceTimersByTimeAsync(51)
  vi.useRealTimers()

  expect(await commented).toMatchObject({ facts: { cause: { words: 'no answer within 50 ms' } } })
})

test('a consumer that takes its time is no stall', async () => {
  vi.useFakeTimers()
  const timeouts = { firstUpdateTimeoutMs: 50, idleTimeoutMs: 20 }
  const words: string[] = []

  for await (const { contents } of guarded(sent([say('a'), say('b'), say('c'), over]), {
    timeouts,
  })) {
    for (const content of contents) if (content.type === 'text') words.push(content.text)
    await vi.advanceTimersByTimeAsync(1000)
  }
  vi.useRealTimers()

  expect(words).toEqual(['a', 'b', 'c'])
})

test.each<[string, (string | null)[]]>([
  ['is whole', [say('a'), over]],
  ['breaks off', [say('a')]],
  ['is left', [say('a'), null]],
])('no timer runs for an answer that %s', async (_, chunks) => {
  vi.useFakeTimers()
  const timeouts = { firstUpdateTimeoutMs: 50, idleTimeoutMs: 20 }
  const iterator = guarded(sent(chunks), { timeouts })[Symbol.asyncIterator]()

  await iterator.next()
  const pull = Promise.allSettled([iterator.next()])
  if (chunks.includes(null)) await iterator.return!()
  await pull
  const timers = vi.getTimerCount()
  vi.useRealTimers()

  expect(timers).toBe(0)
})

import * as fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { SseEvent } from './sse-events.ts'
import { SseReader } from './sse-events.ts'

function body(bytes: Uint8Array, cuts: readonly number[] = []): ReadableStream<Uint8Array> {
  const ends = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])]
  ends.sort((a, b) => a - b)
  let start = 0
  return new ReadableStream({
    pull(controller) {
      const end = ends.shift()
      if (end === undefined) return controller.close()
      controller.enqueue(bytes.subarray(start, end))
      start = end
    },
  })
}

async function read(text: string, cuts?: readonly number[]): Promise<SseEvent[]> {
  const reader = new SseReader(body(new TextEncoder().encode(text), cuts))
  const all: SseEvent[] = []
  for (let events = await reader.read(); events !== undefined; events = await reader.read())
    all.push(...events)
  return [...all, ...reader.rest()]
}

test.each([
  ['a plain event', 'data: a\n\n', [{ event: '', data: 'a' }]],
  ['a named one', 'event: x\ndata: a\n\n', [{ event: 'x', data: 'a' }]],
  ['the name behind the data', 'data: a\nevent: x\n\n', [{ event: 'x', data: 'a' }]],
  ['no space behind the colon', 'data:a\n\n', [{ event: '', data: 'a' }]],
  ['only one space is taken', 'data:  a\n\n', [{ event: '', data: ' a' }]],
  ['several lines of data', 'data: a\ndata: b\n\n', [{ event: '', data: 'a\nb' }]],
  ['an empty line of data', 'data\n\n', [{ event: '', data: '' }]],
  [
    'CRLF',
    'data: a\r\n\r\ndata: b\r\n\r\n',
    [
      { event: '', data: 'a' },
      { event: '', data: 'b' },
    ],
  ],
  [
    'CR',
    'data: a\r\rdata: b\r\r',
    [
      { event: '', data: 'a' },
      { event: '', data: 'b' },
    ],
  ],
  ['CRLF within an event', 'data: a\r\ndata: b\r\n\r\n', [{ event: '', data: 'a\nb' }]],
  ['comments', ': hi\n\n: ho\ndata: a\n\n', [{ event: '', data: 'a' }]],
  ['a byte order mark', '\uFEFFdata: a\n\n', [{ event: '', data: 'a' }]],
  ['a second byte order mark as text', '\uFEFFdata: \uFEFFa\n\n', [{ event: '', data: '\uFEFFa' }]],
  ['unknown fields', 'id: 1\nretry: 2\nother: 3\ndata: a\n\n', [{ event: '', data: 'a' }]],
  ['an event without data', 'event: x\n\ndata: a\n\n', [{ event: '', data: 'a' }]],
  [
    'no blank line at the end',
    'data: a\n\ndata: b',
    [
      { event: '', data: 'a' },
      { event: '', data: 'b' },
    ],
  ],
  ['nothing', '', []],
])('reads %s', async (_, text, events) => {
  expect(await read(text)).toEqual(events)
})

test('the events do not depend on where the bytes are cut', async () => {
  const line = fc.constantFrom('data: ü🌍', 'data:x', 'event: e', ': comment', 'id: 7', '')
  const text = fc
    .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 12 })
    .map((lines) => lines.flat().join(''))

  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 20 }), async (stream, cuts) => {
      expect(await read(stream, cuts)).toEqual(await read(stream))
    }),
  )
})

test('an event of 32 MB in chunks of 1 KB is read before the test times out', async () => {
  const chunk = new TextEncoder().encode('x'.repeat(1024))
  let left = 32 * 1024
  const reader = new SseReader(
    new ReadableStream({
      pull(controller) {
        if (left-- > 0) controller.enqueue(left === 32 * 1024 - 1 ? dataChunk(chunk) : chunk)
        else controller.close()
      },
    }),
  )
  while ((await reader.read()) !== undefined);

  expect(reader.rest()[0]?.data).toHaveLength(32 * 1024 * 1024)
})

function dataChunk(chunk: Uint8Array): Uint8Array {
  return new Uint8Array([...new TextEncoder().encode('data:'), ...chunk])
}

test.each([
  ['data', 'data: xxxx\n'],
  ['lines and pieces', 'data: xxxx\ndata: yy'],
  ['one line', 'data'],
])('an event of %s without an end fails at the limit', async (_, chunk) => {
  const chunks = body(
    new TextEncoder().encode(chunk.repeat(1000)),
    Array.from({ length: 1000 }, (__, at) => at * chunk.length),
  )
  const reader = new SseReader(chunks, 1000)

  const failure = (async () => {
    while ((await reader.read()) !== undefined);
  })()

  await expect(failure).rejects.toMatchObject({
    kind: 'server',
    words: 'an event of the stream is longer than 1000 characters',
    retryable: false,
  })
})

test('an event may be as long as the limit', async () => {
  const text = new TextEncoder().encode('data: x'.padEnd(100, 'x'))
  const reader = new SseReader(body(text), 100)

  expect([await reader.read(), await reader.read()]).toEqual([[], undefined])
})

test.each([
  ['id: 1\nretry: 2\n: hi\nevent: x\ndata: a\n\n', false],
  ['Service is down\n', true],
  ['other: 1\n\n', true],
])('%j has lines of other formats: %j', async (text, isForeign) => {
  const reader = new SseReader(body(new TextEncoder().encode(text)))

  await reader.read()

  expect(reader.isForeign).toBe(isForeign)
})

test('a connection is given back at its end, and leaves no timer', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const cancel = vi.fn<() => void>()
  const endless = new ReadableStream<Uint8Array>({ cancel })

  await new SseReader(body(new TextEncoder().encode('data: a\n\n'))).release()
  expect(vi.getTimerCount()).toBe(0)

  const released = new SseReader(endless).release(50)
  await vi.advanceTimersByTimeAsync(49)
  const early = cancel.mock.calls.length
  await vi.advanceTimersByTimeAsync(1)
  await released

  expect([early, cancel.mock.calls.length]).toEqual([0, 1])
})

import { getEventListeners } from 'node:events'
import type { ChatResponseUpdate } from '@lamella/core'
import { foldUpdates, isProviderError } from '@lamella/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { clientRequest, collect, failureOf } from '@lamella/testing'
import { moment } from '../../../tests/provider-harness/moment.ts'
import { messagesRecording } from '../fixtures/messages-recording.ts'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { AnthropicChatClient } from './anthropic-chat-client.ts'
import type { AnthropicChatClientOptions } from './sdk-options.ts'

const { sse, whole } = messagesRecording([
  { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
  { type: 'text', text: 'One, two.', citations: null },
  { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1 } },
])
/** Up to and with the second piece of the text. */
const begun = sse.slice(0, sse.indexOf('\n\n', sse.indexOf('", t"')) + 2)

let server: RawServer
beforeEach(async () => {
  server = await RawServer.start(answer(sse))
})
afterEach(() => server.stop())

function clientOf(options: AnthropicChatClientOptions = {}): AnthropicChatClient {
  return new AnthropicChatClient({ apiKey: 'k', baseURL: server.url, model: 'm', ...options })
}

/** Sends the beginning of an answer, then does as it is told. */
function begin(then?: 'cut' | 'end'): void {
  server.handler = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(begun, () => {
      if (then === 'cut') response.destroy()
      if (then === 'end') response.end()
    })
  }
}

async function read(
  stream: AsyncIterable<ChatResponseUpdate>,
): Promise<{ updates: ChatResponseUpdate[]; error: unknown }> {
  const updates: ChatResponseUpdate[] = []
  try {
    for await (const update of stream) updates.push(update)
  } catch (error) {
    return { updates, error }
  }
  return { updates, error: undefined }
}

describe('a stream that breaks off', () => {
  test.each([
    ['end', 'truncated_stream'],
    ['cut', 'network'],
  ] as const)('by %s is %s, with what had arrived', async (how, kind) => {
    begin(how)

    const { updates, error } = await read(clientOf().stream(clientRequest()))

    expect(error).toMatchObject({ kind, retry: { retryable: true } })
    expect(isProviderError(error) && error.partial).toEqual(foldUpdates(updates))
    expect(foldUpdates(updates)).toMatchObject({
      text: 'One, t',
      id: 'msg_1',
      usage: { inputTokens: 20, outputTokens: 1 },
    })
  })

  test('at any event before its last is no clean end', async () => {
    const events = sse.split(/(?<=\n\n)/)
    expect(events.length).toBeGreaterThan(15)

    for (let count = 0; count < events.length; count++) {
      server.handler = answer(events.slice(0, count).join(''))
      // oxlint-disable-next-line no-await-in-loop -- one server, one answer at a time
      const { error } = await read(clientOf().stream(clientRequest()))
      expect([count, error]).toMatchObject([count, { kind: 'truncated_stream' }])
    }
  })

  test('inside an event is not a clean end either', async () => {
    server.handler = answer(sse.slice(0, sse.lastIndexOf('stop')))

    const error = await failureOf(clientOf().stream(clientRequest()))

    expect(error).toMatchObject({
      kind: 'truncated_stream',
      message: 'anthropic: the stream broke off inside an event',
    })
  })

  test('behind its last event is whole', async () => {
    server.handler = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse, () => response.destroy())
    }

    const { updates, error } = await read(clientOf().stream(clientRequest()))

    expect(error).toBeUndefined()
    expect(foldUpdates(updates).text).toBe('One, two.')
  })

  test('without a blank line behind its last event is whole', async () => {
    server.handler = answer(sse.trimEnd())

    const updates = await collect(clientOf().stream(clientRequest()))

    expect(foldUpdates(updates).finishReason).toBe('stop')
  })

  test('with events that are not named is whole', async () => {
    server.handler = answer(sse.replaceAll(/^event: .*\n/gm, ''))

    const updates = await collect(clientOf().stream(clientRequest()))

    expect(foldUpdates(updates).text).toBe('One, two.')
  })
})

describe('an abort', () => {
  test('rejects within a tick with its reason, whoever waits', async () => {
    begin()
    const controller = new AbortController()
    const reason = new Error('enough')
    const stream = clientOf().stream(clientRequest('Hi.', {}, { signal: controller.signal }))
    const iterator = stream[Symbol.asyncIterator]()
    const updates: ChatResponseUpdate[] = []
    while (foldUpdates(updates).text !== 'One, t') {
      // oxlint-disable-next-line no-await-in-loop -- one update after the other
      updates.push((await iterator.next()).value)
    }

    const pulls = Promise.allSettled([iterator.next(), iterator.next()])
    let isSettled = false
    void pulls.then(() => (isSettled = true))
    controller.abort(reason)
    for (let tick = 0; tick < 5; tick++) {
      // oxlint-disable-next-line no-await-in-loop -- microtasks only: no time passes
      await Promise.resolve()
    }

    expect(isSettled).toBe(true)
    expect(await pulls).toEqual([
      { status: 'rejected', reason },
      { status: 'fulfilled', value: { done: true, value: undefined } },
    ])
    expect(foldUpdates(updates).usage.inputTokens).toBe(20)
  })

  test('closes the request', async () => {
    const closed = moment()
    const controller = new AbortController()
    const reason = new Error('enough')
    server.handler = (response) => {
      response.on('close', closed.resolve)
      controller.abort(reason)
    }
    const request = clientRequest('Hi.', {}, { signal: controller.signal })

    await expect(collect(clientOf().stream(request))).rejects.toBe(reason)
    await closed.promise
  })

  test('before the first pull sends nothing', async () => {
    const reason = new Error('never mind')
    const request = clientRequest('Hi.', {}, { signal: AbortSignal.abort(reason) })

    await expect(collect(clientOf().stream(request))).rejects.toBe(reason)
    await expect(clientOf().respond(request)).rejects.toBe(reason)
    expect(server.received).toEqual([])
  })

  test('of a whole answer rejects at once and closes the request', async () => {
    const closed = moment()
    const controller = new AbortController()
    const reason = new Error('enough')
    server.handler = (response) => {
      response.on('close', closed.resolve)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{', () => controller.abort(reason))
    }

    const answering = clientOf().respond(clientRequest('Hi.', {}, { signal: controller.signal }))

    await expect(answering).rejects.toBe(reason)
    await closed.promise
  })
})

describe('a consumer', () => {
  test('starts the stream with the first pull', async () => {
    const stream = clientOf().stream(clientRequest())
    await new Promise((resolve) => setImmediate(resolve))
    expect(server.received).toEqual([])

    await collect(stream)

    expect(server.received).toHaveLength(1)
  })

  test('that leaves closes the request, and a pull that waits ends', async () => {
    const closed = moment()
    begin()
    const { handler } = server
    server.handler = (response, request) => {
      response.on('close', closed.resolve)
      return handler(response, request)
    }
    const iterator = clientOf().stream(clientRequest())[Symbol.asyncIterator]()
    await iterator.next()

    await iterator.return!()

    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    await closed.promise
  })

  test('is told of a failure once', async () => {
    begin('end')
    const iterator = clientOf().stream(clientRequest())[Symbol.asyncIterator]()
    const pulls = await Promise.allSettled(Array.from({ length: 30 }, () => iterator.next()))

    expect(pulls.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })
})

describe('whatever the end', () => {
  test.each([
    ['its own', sse],
    ['too early', begun],
    ['an error', `${begun}event: error\ndata: {"error":{"type":"overloaded_error"}}\n\n`],
  ])('nothing listens to the signal any more: %s', async (_how, body) => {
    const { signal: aborted } = new AbortController()
    server.handler = answer(body)

    await read(clientOf().stream(clientRequest('Hi.', {}, { signal: aborted })))
    await clientOf()
      .respond(clientRequest('Hi.', {}, { signal: aborted }))
      .catch(() => {})

    expect(getEventListeners(aborted, 'abort')).toEqual([])
  })

  test('the connection is closed behind an error', async () => {
    const closed = moment()
    server.handler = (response) => {
      response.on('close', closed.resolve)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: error\ndata: {"error":{"type":"overloaded_error"}}\n\n')
    }

    expect(await failureOf(clientOf().stream(clientRequest()))).toMatchObject({
      kind: 'overloaded',
    })
    await closed.promise
  })
})

describe('silence', () => {
  test('before the first update is a timeout', async () => {
    server.handler = () => {}

    const error = await failureOf(clientOf({ firstUpdateTimeoutMs: 30 }).stream(clientRequest()))

    expect(error).toMatchObject({
      kind: 'timeout',
      message: 'anthropic: no answer within 30 ms',
      partial: undefined,
    })
  })

  test('within the stream is a timeout, with what had arrived', async () => {
    begin()

    const { error } = await read(clientOf({ idleTimeoutMs: 30 }).stream(clientRequest()))

    expect(error).toMatchObject({
      kind: 'timeout',
      message: 'anthropic: no data for 30 ms',
      partial: { text: 'One, t', usage: { inputTokens: 20 } },
    })
  })

  test('within the body of a whole answer is a timeout', async () => {
    server.handler = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(JSON.stringify(whole).slice(0, 20))
    }

    const error = await failureOf(clientOf({ idleTimeoutMs: 30 }).respond(clientRequest()))

    expect(error).toMatchObject({
      kind: 'timeout',
      message: 'anthropic: no complete answer within 30 ms of its headers',
    })
  })
})

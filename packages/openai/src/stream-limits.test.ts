import type { ServerResponse } from 'node:http'
import type { ChatResponseUpdate, ProviderError } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { clientRequest, collect, failureOf } from '@lamella/testing'
import { moment } from '../../../tests/provider-harness/moment.ts'
import { completionsRecording } from '../fixtures/completions-recording.ts'
import type { Handler } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { responsesRecording, responsesSse } from '../fixtures/responses-recording.ts'
import { OpenAIChatClient } from './openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from './openai-chat-completions-client.ts'
import type { OpenAIClientOptions } from './sdk-options.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

const item = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'The Douro flows.', annotations: [] }],
}
const apis = [
  { name: 'Responses', Client: OpenAIChatClient, recording: responsesRecording([item]) },
  {
    name: 'Chat Completions',
    Client: OpenAIChatCompletionsClient,
    recording: completionsRecording({ content: 'The Douro flows.' }),
  },
]
const eventStream = { 'content-type': 'text/event-stream' }

describe.each(apis)('$name', ({ name, Client, recording }) => {
  const open = (options: OpenAIClientOptions = {}) =>
    new Client({ apiKey: 'test-key', baseURL: server.baseURL, model: 'm', ...options })
  const { sse } = recording
  /** The answer up to and including the first piece of text. */
  const begun = sse.slice(0, sse.indexOf('\n\n', sse.indexOf('"The"')) + 2)
  const begin =
    (then: (response: ServerResponse) => void): Handler =>
    (response) => {
      response.writeHead(200, eventStream)
      response.write(begun, () => then(response))
    }

  test('nothing is sent before the first pull', async () => {
    server.received.length = 0
    server.handler = answer(sse)

    const stream = open().stream(clientRequest())
    const before = server.received.length
    await collect(stream)

    expect([before, server.received.length]).toEqual([0, 1])
  })

  test('an abort before the headers rejects with its reason and closes the request', async () => {
    const closed = moment()
    const arrived = moment()
    server.handler = (response) => {
      response.on('close', closed.resolve)
      arrived.resolve()
    }
    const controller = new AbortController()
    const reason = new Error('enough')

    const failure = failureOf(open().stream(clientRequest('Hi', {}, { signal: controller.signal })))
    await arrived.promise
    controller.abort(reason)

    expect(await failure).toBe(reason)
    await closed.promise
  })

  test('an abort in the middle settles the pending pull at once', async () => {
    const closed = moment()
    server.handler = begin((response) => response.on('close', closed.resolve))
    const controller = new AbortController()
    const stream = open().stream(clientRequest('Hi', {}, { signal: controller.signal }))
    const iterator = stream[Symbol.asyncIterator]()
    await iterator.next()
    await iterator.next()

    const pending = failureOf(iterator.next() as Promise<unknown>)
    controller.abort('enough')

    expect(await Promise.race([pending, ticks(3)])).toBe('enough')
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    await closed.promise
  })

  test('a signal that is aborted already sends nothing', async () => {
    server.received.length = 0
    const request = clientRequest('Hi', {}, { signal: AbortSignal.abort('before') })

    const failures = [
      await failureOf(open().stream(request)),
      await failureOf(open().respond(request)),
    ]

    expect(failures).toEqual(['before', 'before'])
    expect(server.received).toEqual([])
  })

  test('leaving the loop closes the request', async () => {
    const closed = moment()
    server.handler = begin((response) => response.on('close', closed.resolve))

    for await (const _ of open().stream(clientRequest())) break

    await expect(closed.promise).resolves.toBeUndefined()
  })

  test('leaving the loop while a pull waits ends that pull', async () => {
    server.handler = begin(() => {})
    const iterator = open().stream(clientRequest())[Symbol.asyncIterator]()
    await iterator.next()
    await iterator.next()

    const pending = iterator.next()
    await iterator.return!()

    expect(await pending).toEqual({ done: true, value: undefined })
  })

  test('a connection that is cut is a network error with what had arrived', async () => {
    server.handler = begin((response) => response.destroy())

    const error = (await failureOf(open().stream(clientRequest()))) as ProviderError

    expect(error).toMatchObject({ kind: 'network', retry: { retryable: true, replay: 'safe' } })
    expect(error.partial).toMatchObject({ text: 'The', id: recording.whole['id'] })
  })

  test('the updates before a failure are handed out', async () => {
    server.handler = begin((response) => response.end('data: {"error":{"message":"no"}}\n\n'))
    const updates: ChatResponseUpdate[] = []

    const failure = failureOf(
      (async () => {
        for await (const update of open().stream(clientRequest())) updates.push(update)
      })(),
    )

    expect(await failure).toMatchObject({ kind: 'server' })
    expect(foldUpdates(updates).text).toBe('The')
  })

  test('pulls at the same time are answered one after the other', async () => {
    server.handler = answer(sse)
    const iterator = open().stream(clientRequest())[Symbol.asyncIterator]()

    const steps = await Promise.all([
      iterator.next(),
      iterator.next(),
      iterator.next(),
      iterator.next(),
    ])

    const updates = steps.flatMap((step) => (step.done === true ? [] : [step.value]))
    expect(foldUpdates(updates).text).toBe('The Douro')
  })

  test('however long the stream was, all of it is in the partial answer', async () => {
    const long = 'x'.repeat(9000)
    const said = { ...item, content: [{ type: 'output_text', text: long, annotations: [] }] }
    const whole =
      name === 'Responses'
        ? responsesRecording([said]).sse
        : completionsRecording({ content: long }).sse
    const end = whole.lastIndexOf(
      '\n\n',
      whole.search(name === 'Responses' ? 'output_item.done' : '"stop"'),
    )
    server.handler = answer(whole.slice(0, end + 2))

    const error = (await failureOf(open().stream(clientRequest()))) as ProviderError

    expect(error.partial!.text).toBe(long)
    expect(error.partial!.messages).toHaveLength(1)
  })

  test('a stream without its end is truncated', async () => {
    server.handler = begin((response) => response.end())

    expect(await failureOf(open().stream(clientRequest()))).toMatchObject({
      kind: 'truncated_stream',
      partial: { text: 'The' },
      retry: { retryable: true },
    })
  })

  test.each([
    ['that stops', (response: ServerResponse) => void response.end()],
    ['with an error', (response: ServerResponse) => void response.end('data: {"error":"no"}\n\n')],
    ['that stalls', () => {}],
  ])('a stream %s tells the id of its request', async (_, then) => {
    server.handler = (response) => {
      response.writeHead(200, { ...eventStream, 'x-request-id': 'req_7' })
      response.write(begun, () => then(response))
    }

    const error = await failureOf(open({ idleTimeoutMs: 20 }).stream(clientRequest()))

    expect(error).toMatchObject({ requestId: 'req_7', partial: { text: 'The' } })
  })

  test('an event that is cut in half is a truncation, too', async () => {
    server.handler = begin((response) => response.end('data: {"type":"resp'))

    expect(await failureOf(open().stream(clientRequest()))).toMatchObject({
      kind: 'truncated_stream',
      partial: { text: 'The' },
    })
  })

  test('an end without a blank line behind it is an end', async () => {
    server.handler = answer(sse.trimEnd())

    const response = foldUpdates(await collect(open().stream(clientRequest())))

    expect(response).toMatchObject({ text: 'The Douro flows.', finishReason: 'stop' })
  })

  test('a stall is a timeout with what had arrived', async () => {
    server.handler = begin(() => {})

    const error = await failureOf(open({ idleTimeoutMs: 20 }).stream(clientRequest()))

    expect(error).toMatchObject({
      kind: 'timeout',
      message: 'openai: no data for 20 ms',
      partial: { text: 'The' },
    })
  })

  test('a server that sends nothing at all is a timeout of its own', async () => {
    server.handler = () => {}

    const error = await failureOf(open({ firstUpdateTimeoutMs: 20 }).stream(clientRequest()))

    expect(error).toMatchObject({ kind: 'timeout', message: 'openai: no answer within 20 ms' })
    expect(error).not.toHaveProperty('partial.text')
  })

  test.each([
    ['a web page', '<html>Sign in</html>', 'text/html', false],
    ['JSON', JSON.stringify(recording.whole), 'application/json', false],
    ['nothing', '', 'application/json', true],
    ['plain text', 'Service: busy\nPlease wait', 'text/plain', true],
  ])('%s instead of a stream is an error', async (_, body, type, retryable) => {
    server.handler = answer(body, { headers: { 'content-type': type } })

    const error = (await failureOf(open().stream(clientRequest()))) as ProviderError

    expect(error).toMatchObject({ kind: 'server', retry: { retryable } })
    expect(error.message).toMatch(/instead of a stream/)
    expect(error.message).not.toContain('Douro')
  })

  test('a stream without a single event is truncated', async () => {
    server.handler = answer(': keep-alive\n\ndata: [DONE]\n\n')

    expect(await failureOf(open().stream(clientRequest()))).toMatchObject({
      kind: 'truncated_stream',
    })
  })

  test('the connection serves the next call', async () => {
    const sockets = new Set<unknown>()
    const fresh = await RawServer.start((response, request) => {
      sockets.add(response.socket)
      return answer(sse)(response, request)
    })
    const client = open({ baseURL: fresh.baseURL })

    for (let calls = 0; calls < 6; calls++) {
      await collect(client.stream(clientRequest()))
      await ticks(20)
    }

    expect(sockets.size).toBeLessThan(3)
    await fresh.stop()
  })

  test('a whole answer whose body stalls is a timeout', async () => {
    server.handler = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"id":')
    }

    const error = await failureOf(open({ idleTimeoutMs: 20 }).respond(clientRequest()))

    expect(error).toMatchObject({ kind: 'timeout' })
  })

  test('an abort of a whole answer rejects with its reason, before and within the body', async () => {
    const reasons = []
    for (const head of [false, true]) {
      const arrived = moment()
      server.handler = (response) => {
        if (head) response.writeHead(200, { 'content-type': 'application/json' }).write('{"id":')
        arrived.resolve()
      }
      const controller = new AbortController()
      const failure = failureOf(
        open().respond(clientRequest('Hi', {}, { signal: controller.signal })),
      )
      await arrived.promise
      if (head) await ticks(20)
      controller.abort(`head: ${head}`)
      reasons.push(await failure)
    }

    expect(reasons).toEqual(['head: false', 'head: true'])
  })

  test('a signal is not left with a listener', async () => {
    server.handler = answer(sse)
    const controller = new AbortController()
    const add = vi.spyOn(controller.signal, 'addEventListener')
    const remove = vi.spyOn(controller.signal, 'removeEventListener')

    await collect(open().stream(clientRequest('Hi', {}, { signal: controller.signal })))

    expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(
      expect.arrayContaining(add.mock.calls.map(([, listener]) => listener)),
    )
  })
})

test('a connection that is cut behind the finish reason is cut too late to matter', async () => {
  const { sse } = completionsRecording({ content: 'Done.' })
  const upToEnd = sse.slice(0, sse.indexOf('\n\n', sse.indexOf('"finish_reason":"stop"')) + 2)
  server.handler = (response) => {
    response.writeHead(200, eventStream)
    response.write(upToEnd, () => response.destroy())
  }
  const client = new OpenAIChatCompletionsClient({
    apiKey: 'k',
    baseURL: server.baseURL,
    model: 'm',
  })

  const response = foldUpdates(await collect(client.stream(clientRequest())))

  expect(response).toMatchObject({ text: 'Done.', finishReason: 'stop' })
})

test('a failure inside a response keeps what was said and what it cost', async () => {
  const { whole } = responsesRecording([item], {
    status: 'failed',
    error: { code: 'server_error', message: 'Sorry.' },
  })
  const failed = { type: 'response.failed', response: whole }
  const client = new OpenAIChatClient({ apiKey: 'test-key', baseURL: server.baseURL, model: 'm' })

  server.handler = answer(responsesSse([failed]))
  const streamed = await failureOf(client.stream(clientRequest()))
  server.handler = answer(whole)
  const plain = await failureOf(client.respond(clientRequest()))

  for (const error of [streamed, plain]) {
    expect(error).toMatchObject({
      kind: 'server',
      details: { code: 'server_error' },
      partial: { text: 'The Douro flows.', usage: { inputTokens: 20 } },
    })
  }
})

async function ticks(count: number): Promise<'still waiting'> {
  for (let tick = 0; tick < count; tick++) await new Promise((resolve) => setImmediate(resolve))
  return 'still waiting'
}

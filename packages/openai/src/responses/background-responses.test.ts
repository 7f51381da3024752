import type { ChatOptions, ChatResponseUpdate } from '@lamella/core'
import { foldUpdates, textOf } from '@lamella/core'
import { clientRequest, collect, failureOf } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { responsesRecording } from '../../fixtures/responses-recording.ts'
import { OpenAIChatClient as FetchClient } from '../fetch/openai-chat-client.ts'
import type { BackgroundOptions } from '../index.ts'
import { OpenAIChatClient } from '../index.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())
beforeEach(() => {
  server.received.length = 0
})

const words = 'The Douro flows.'
const item = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: words, annotations: [] }],
}
const { whole, sse } = responsesRecording([item])
const events = sse.split(/(?<=\n\n)/)
const pending = { ...whole, status: 'in_progress', output: [], usage: null }

const inBackground = (background: boolean | BackgroundOptions, more: ChatOptions = {}) =>
  ({ ...more, providerOptions: { openai: { background } } }) satisfies ChatOptions
const sent = () => server.received.map(({ method, path }) => `${method} ${path}`)
const cancelled = () => expect.poll(() => sent().at(-1)).toBe('POST /v1/responses/resp_1/cancel')
/** Requests once a cancellation would have come. */
const settled = async () => {
  await new Promise((resolve) => void setTimeout(resolve, 50))
  return sent()
}

describe.each([
  ['on the SDK', OpenAIChatClient],
  ['with fetch', FetchClient],
])('a response in the background, %s', (_name, Client) => {
  const open = () => new Client({ apiKey: 'test-key', baseURL: server.baseURL, model: 'm' })

  test('is submitted once and looked at until it is complete', async () => {
    server.handler = (response, request) => {
      const isDone = server.received.length === 3
      return answer(
        isDone ? whole : { ...pending, status: request.body ? 'queued' : 'in_progress' },
      )(response, request)
    }

    const response = await open().respond(
      clientRequest('Hi', inBackground({ pollMs: 1 }, { metadata: { a: '1' } })),
    )

    expect(response).toMatchObject({ id: 'resp_1', text: words, finishReason: 'stop' })
    expect(sent()).toEqual([
      'POST /v1/responses',
      'GET /v1/responses/resp_1',
      'GET /v1/responses/resp_1',
    ])
    expect(server.received[0]!.body).toMatchObject({ background: true })
    expect(server.received[0]!.body).not.toHaveProperty('store')
  })

  test('is submitted without a wait, and fetched later', async () => {
    server.handler = answer(pending)
    const submitted = await open().respond(clientRequest('Hi', inBackground({ wait: false })))
    expect(submitted).toMatchObject({ id: 'resp_1', metadata: { status: 'in_progress' } })

    server.handler = answer(whole)
    const later = inBackground({ responseId: 'resp_1' })

    expect((await open().respond(clientRequest('Hi', later))).text).toBe(words)
    expect(sent()).toEqual(['POST /v1/responses', 'GET /v1/responses/resp_1'])
  })

  test('that fails rejects', async () => {
    const error = { code: 'server_error', message: 'No.' }
    server.handler = answer({ ...whole, status: 'failed', output: [], error })

    const failure = await failureOf(open().respond(clientRequest('Hi', inBackground(true))))

    expect(failure).toMatchObject({ kind: 'server', retry: { replay: 'unsafe' } })
  })

  test('that cannot be looked at is named by the error', async () => {
    server.handler = (response, request) =>
      answer(request.method === 'POST' ? pending : { error: { message: 'No.' } }, {
        status: request.method === 'POST' ? 200 : 500,
      })(response, request)

    const failure = await failureOf(
      open().respond(clientRequest('Hi', inBackground({ pollMs: 1 }))),
    )

    expect(failure).toMatchObject({ kind: 'server', partial: { id: 'resp_1' } })
  })

  test('is left alone by an abort where nobody waits', async () => {
    const controller = new AbortController()
    server.handler = (response, request) => {
      controller.abort('enough')
      return answer(pending)(response, request)
    }
    const options = inBackground({ responseId: 'resp_1', wait: false })

    const failure = failureOf(
      open().respond(clientRequest('Hi', options, { signal: controller.signal })),
    )

    expect(await failure).toBe('enough')
    expect(await settled()).toEqual(['GET /v1/responses/resp_1'])
  })

  test('an abort during the wait between two looks cancels', async () => {
    const controller = new AbortController()
    server.handler = answer(pending)
    const options = inBackground({ pollMs: 60_000 })
    const failure = failureOf(
      open().respond(clientRequest('Hi', options, { signal: controller.signal })),
    )
    await expect.poll(() => server.received).toHaveLength(1)
    await new Promise((resolve) => void setTimeout(resolve, 20))

    controller.abort('enough')

    expect(await failure).toBe('enough')
    await cancelled()
  })

  test('is streamed over connections that break, each piece once', async () => {
    server.handler = (response, request) => {
      const after = Number(new URL(request.path, server.url).searchParams.get('starting_after'))
      const from = request.method === 'GET' ? after + 1 : 0
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(events.slice(from, from + 3).join(''), () => {
        if (from + 3 >= events.length) response.end()
        else if (from % 2 === 0) response.destroy()
        else response.end()
      })
    }

    const updates = await collect(open().stream(clientRequest('Hi', inBackground(true))))

    expect(foldUpdates(updates)).toMatchObject({ id: 'resp_1', text: words, finishReason: 'stop' })
    const pieces = updates.flatMap(({ contents }: ChatResponseUpdate) => textOf(contents))
    expect(pieces.join('')).toBe(words)
    expect(sent().slice(0, 2)).toEqual([
      'POST /v1/responses',
      'GET /v1/responses/resp_1?stream=true&starting_after=2',
    ])
    expect(server.received.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  test('is streamed from its beginning where another process submitted it', async () => {
    server.handler = answer(sse)
    const options = inBackground({ responseId: 'resp_1' })

    const updates = await collect(open().stream(clientRequest('Hi', options)))

    expect(foldUpdates(updates).text).toBe(words)
    expect(sent()).toEqual(['GET /v1/responses/resp_1?stream=true'])
  })

  test.each([
    ['is cancelled', true, ['POST /v1/responses', 'POST /v1/responses/resp_1/cancel']],
    ['is left alone where nobody waits', false, ['POST /v1/responses']],
  ])('whose stream is left %s', async (_case, wait, requests) => {
    server.handler = (response, request) => {
      if (request.path.endsWith('/cancel')) return answer(pending)(response, request)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(events.slice(0, 5).join(''))
      return undefined
    }

    for await (const _ of open().stream(clientRequest('Hi', inBackground({ wait })))) break

    await expect.poll(() => sent()).toEqual(requests)
    expect(await settled()).toEqual(requests)
  })

  test('an abort of a stream cancels, and rejects a pull that waits at once', async () => {
    const controller = new AbortController()
    server.handler = (response, request) => {
      if (request.path.endsWith('/cancel')) return answer(pending)(response, request)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(events.slice(0, 5).join(''))
      return undefined
    }
    const options = inBackground(true)
    const stream = open().stream(clientRequest('Hi', options, { signal: controller.signal }))
    const failure = failureOf(stream)
    await expect.poll(() => server.received).toHaveLength(1)
    await new Promise((resolve) => void setTimeout(resolve, 20))

    controller.abort('enough')

    expect(await failure).toBe('enough')
    await cancelled()
  })

  test('a stream that failed for good holds all that had arrived', async () => {
    server.handler = (response, request) => {
      if (request.method === 'GET') {
        return answer({ error: { message: 'Gone.' } }, { status: 404 })(response, request)
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(events.slice(0, 6).join(''))
      return undefined
    }

    const failure = await failureOf(open().stream(clientRequest('Hi', inBackground(true))))

    expect(failure).toMatchObject({ kind: 'not_found', partial: { id: 'resp_1' } })
    expect((failure as { partial: { text: string } }).partial.text).not.toBe('')
  })

  test('can be cancelled by its id', async () => {
    server.handler = answer(pending)

    await open().cancel('resp_1')

    expect(sent()).toEqual(['POST /v1/responses/resp_1/cancel'])
    server.handler = answer({ error: { message: 'No.' } }, { status: 404 })
    await expect(open().cancel('a/../b')).rejects.toMatchObject({ kind: 'not_found' })
    expect(server.last.path).toBe('/v1/responses/a%2F..%2Fb/cancel')
  })

  test.each([
    [{ pollMs: 0 }, /`pollMs` must be a whole number from 1 up/],
    [{ responseID: 'resp_1' }, /unknown option `responseID`; did you mean `responseId`/],
    ['yes', /`background` must be of type boolean or object/],
  ])('%j is refused', async (background, message) => {
    const options = inBackground(background as BackgroundOptions)

    await expect(open().respond(clientRequest('Hi', options))).rejects.toThrow(message)
  })
})

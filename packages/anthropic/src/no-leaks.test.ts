// Whatever goes wrong: afterwards no request is open, no timer keeps the process, nothing listens.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import type { ChatClient, ChatRequest } from '@lamella/core'
import { isProviderError } from '@lamella/core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { clientRequest, collect, failureOf, signal } from '../fixtures/client-request.ts'
import { messagesRecording } from '../fixtures/messages-recording.ts'
import type { Handler } from '../fixtures/raw-server.ts'
import { answer, RawServer } from '../fixtures/raw-server.ts'
import { AnthropicChatClient } from './anthropic-chat-client.ts'
import type { AnthropicChatClientOptions } from './anthropic-connection.ts'

const recording = messagesRecording([{ type: 'text', text: 'The Douro flows.', citations: null }])

/** What the HTTP client has sent and not yet seen the end of. */
const held = new Set<object>()
const served: ServerResponse[] = []
const timers = new Set<NodeJS.Timeout>()
const { setTimeout, clearTimeout } = globalThis
let http: Server
let server: RawServer

const channels: Record<string, (message: never) => void> = {
  'undici:request:create': ({ request }: { request: { origin: string } }) => {
    if (server.url.startsWith(request.origin)) held.add(request)
  },
  'undici:request:trailers': ({ request }: { request: object }) => held.delete(request),
  'undici:request:error': ({ request }: { request: object }) => held.delete(request),
  'http.server.request.start': (arrived: { server: Server; response: ServerResponse }) => {
    http = arrived.server
    served.push(arrived.response)
  },
}

beforeAll(async () => {
  server = await RawServer.start()
  for (const [name, listen] of Object.entries(channels)) subscribe(name, listen as () => void)
})
afterAll(async () => {
  for (const [name, listen] of Object.entries(channels)) unsubscribe(name, listen as () => void)
  await server.stop()
})
beforeEach(() => {
  for (const known of [held, timers]) known.clear()
  served.length = 0
  globalThis.setTimeout = ((
    work: (...given: unknown[]) => void,
    ms: number,
    ...given: unknown[]
  ) => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      work(...given)
    }, ms)
    timers.add(timer)
    return timer
  }) as typeof setTimeout
  globalThis.clearTimeout = ((timer: NodeJS.Timeout) => {
    timers.delete(timer)
    clearTimeout(timer)
  }) as typeof clearTimeout
})
afterEach(() => {
  Object.assign(globalThis, { setTimeout, clearTimeout })
})

async function nothingIsLeft({ signal: given }: ChatRequest, requests: number): Promise<void> {
  await vi.waitFor(() => {
    expect({
      arrived: served.length,
      open: served.filter(({ closed }) => !closed).length,
      held: held.size,
      timers: [...timers].filter((timer) => timer.hasRef()).length,
      listeners: getEventListeners(given, 'abort').length,
    }).toEqual({ arrived: requests, open: 0, held: 0, timers: 0, listeners: 0 })
  })
  if (requests === 0) return
  http.closeIdleConnections()
  await vi.waitFor(async () => {
    const count = await new Promise((resolve) => http.getConnections((_, all) => resolve(all)))
    expect(count).toBe(0)
  })
}

const page = `<html>${'x'.repeat(2_000_000)}</html>`
const html = { 'content-type': 'text/html' }
const json = { 'content-type': 'application/json' }
const eventStream = { 'content-type': 'text/event-stream' }
const hurry = { firstUpdateTimeoutMs: 40, idleTimeoutMs: 40, timeoutMs: 40 }

/** Sends headers and a piece of a body, then nothing, or what it is told. */
const begin =
  (
    status: number,
    headers: Record<string, string>,
    text: string,
    then: (response: ServerResponse) => void = () => {},
  ): Handler =>
  (response) => {
    response.writeHead(status, headers)
    response.write(text, () => then(response))
  }

const modes = ['whole', 'streamed'] as const
type Mode = (typeof modes)[number]

function ask(client: ChatClient, mode: Mode, request: ChatRequest): Promise<unknown> {
  return mode === 'whole' ? client.respond(request) : collect(client.stream(request))
}

/** The beginning of an answer, up to and including the first piece of text. */
function beginningOf(mode: Mode): readonly [object, string] {
  const { whole, sse } = recording
  if (mode === 'whole') return [json, JSON.stringify(whole).slice(0, 40)]
  return [eventStream, sse.slice(0, sse.indexOf('\n\n', sse.indexOf('"The"')) + 2)]
}

const open = (options: AnthropicChatClientOptions = {}): ChatClient =>
  new AnthropicChatClient({ apiKey: 'k', baseURL: server.url, model: 'm', ...options })

describe.each(modes)('%s', (mode) => {
  const [headers, begun] = beginningOf(mode) as readonly [Record<string, string>, string]
  const whole = mode === 'whole' ? recording.whole : recording.sse
  const error = { type: 'error', error: { type: 'api_error', message: 'No.' } }

  test.each<[string, Handler]>([
    ...[400, 401, 404, 409, 429, 500, 503].map((status): [string, Handler] => [
      `status ${status}`,
      answer(error, { status }),
    ]),
    ['a status without a body', answer('', { status: 502 })],
    ['a status with a long page', answer(page, { status: 502, headers: html })],
    ['a status whose body is cut', begin(500, json, '{"error":', (out) => out.destroy())],
    ['a long page', answer(page, { headers: html })],
    ['a page that stalls', begin(200, html, '<html>')],
    ['an empty body', answer('', { headers: json })],
    ['an empty stream', answer('')],
    ['no content', answer('', { status: 204 })],
    ['half of a JSON', answer('{"id":', { headers: json })],
    ['another JSON', answer({ status: 'ok' })],
    ['an event that is no JSON', begin(200, eventStream, 'data: {"id":\n\n')],
    [
      'an error in an event',
      begin(200, eventStream, `event: error\ndata: ${JSON.stringify(error)}\n\n`),
    ],
    ['a reset before the headers', (out) => void out.socket!.resetAndDestroy()],
    ['a close before the headers', (out) => void out.destroy()],
    ['a reset in the middle', begin(200, headers, begun, (out) => out.socket!.resetAndDestroy())],
    ['a cut in the middle', begin(200, headers, begun, (out) => out.destroy())],
    ['an early end', begin(200, headers, begun, (out) => out.end())],
    ['a length that is not reached', begin(200, { ...headers, 'content-length': '90000' }, begun)],
    ['silence before the headers', () => {}],
    ['silence behind the headers', begin(200, headers, '\n')],
    ['silence in the middle', begin(200, headers, begun)],
  ])('%s', async (_name, handler) => {
    server.handler = handler
    const request = clientRequest()

    const failure = await failureOf(ask(open(hurry), mode, request))

    expect(isProviderError(failure)).toBe(true)
    await nothingIsLeft(request, 1)
  })

  test('repeats, and what they repeat', async () => {
    const answers = [
      begin(503, { ...json, 'retry-after-ms': '1' }, '{"error":'),
      answer(page, { status: 502, headers: { ...html, 'retry-after-ms': '1' } }),
      answer(whole),
    ]
    server.handler = (response, request) => answers[served.length - 1]!(response, request)
    const request = clientRequest('Hi', { transportRetries: 2 })

    await ask(open(), mode, request)

    await expect(nothingIsLeft(request, 3)).resolves.toBeUndefined()
  })

  test.each<[string, Handler, (() => void)?]>([
    ['before the headers', () => {}],
    ['in the middle', begin(200, headers, begun)],
    ['in the body of a failure', begin(500, json, '{"error":')],
    ['before a repeat', answer(error, { status: 503, headers: { 'retry-after': '30' } })],
  ])('an abort %s', async (_name, handler) => {
    const arrived = signal()
    const controller = new AbortController()
    server.handler = async (response, received) => {
      await handler(response, received)
      arrived.resolve()
    }
    const request = clientRequest('Hi', { transportRetries: 1 }, { signal: controller.signal })
    const failure = failureOf(ask(open(), mode, request))

    await arrived.promise
    await new Promise((resolve) => void setTimeout(resolve, 20))
    controller.abort('enough')

    expect(await failure).toBe('enough')
    await nothingIsLeft(request, 1)
  })

  test('an abort before the request', async () => {
    const request = clientRequest('Hi', {}, { signal: AbortSignal.abort('enough') })

    expect(await failureOf(ask(open(), mode, request))).toBe('enough')
    await nothingIsLeft(request, 0)
  })

  test('an answer', async () => {
    server.handler = answer(whole)
    const request = clientRequest()

    await ask(open(), mode, request)

    await expect(nothingIsLeft(request, 1)).resolves.toBeUndefined()
  })
})

describe('a stream', () => {
  const [, begun] = beginningOf('streamed')

  test.each<[string, Handler]>([
    ['the rest never comes', begin(200, eventStream, begun)],
    ['the rest is there', answer(recording.sse)],
  ])('a loop that is left while %s', async (_name, handler) => {
    server.handler = handler
    const request = clientRequest()

    for await (const _ of open().stream(request)) break

    await expect(nothingIsLeft(request, 1)).resolves.toBeUndefined()
  })

  test('a status whose body stalls', async () => {
    server.handler = begin(500, json, '{"error":')
    const request = clientRequest()

    const failure = await failureOf(open(hurry).stream(request))

    expect(failure).toMatchObject({ kind: 'timeout' })
    await nothingIsLeft(request, 1)
  })

  test('a whole answer’s status whose body stalls', async () => {
    server.handler = begin(500, json, '{"error":')
    const request = clientRequest()

    const failure = await failureOf(open({ idleTimeoutMs: 40 }).respond(request))

    expect(failure).toMatchObject({ kind: 'server', status: 500 })
    await nothingIsLeft(request, 1)
  })

  test('that is left before the headers', async () => {
    const arrived = signal()
    server.handler = () => arrived.resolve()
    const request = clientRequest()
    const iterator = open().stream(request)[Symbol.asyncIterator]()
    const pull = iterator.next()
    await arrived.promise

    await iterator.return!()

    expect(await pull).toEqual({ done: true, value: undefined })
    await nothingIsLeft(request, 1)
  })

  test('that is left before the first pull', async () => {
    const request = clientRequest()

    await open().stream(request)[Symbol.asyncIterator]().return!()

    await expect(nothingIsLeft(request, 0)).resolves.toBeUndefined()
  })

  test('a server that goes on behind the end of its answer', async () => {
    server.handler = (response) => {
      response.writeHead(200, eventStream)
      response.write(recording.sse)
      const more = setInterval(() => response.write(': more\n\n'), 20)
      response.on('close', () => clearInterval(more))
    }
    const request = clientRequest()

    await collect(open().stream(request))

    await vi.waitFor(() => expect(served[0]!.closed).toBe(true), 3000)
    await nothingIsLeft(request, 1)
  })
})

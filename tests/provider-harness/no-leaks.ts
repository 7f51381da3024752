// Whatever goes wrong: afterwards no request is open, no timer keeps the process, nothing listens.
import { afterAll, aroundEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ChatClient, ChatRequest } from '../../packages/core/src/index.ts'
import { isProviderError } from '../../packages/core/src/index.ts'
import { clientRequest, collect, failureOf } from '../../packages/testing/src/index.ts'
import type { Handler } from '../../packages/testing/src/raw-server.ts'
import { answer, begin, RawServer } from '../../packages/testing/src/raw-server.ts'
import type { Arrivals } from './leak-watch.ts'
import { LeakWatch, patience } from './leak-watch.ts'
import { moment } from './moment.ts'

/** Facts of one API that the suite needs. */
export interface LeakRow {
  readonly api: string
  /** An answer that says `The Douro flows.`, of which the first piece of the stream is `The`. */
  readonly recording: { readonly whole: object; readonly sse: string }
  readonly open: (url: string, timeouts: Partial<typeof hurry>) => ChatClient
  /** The body of a failure status. */
  readonly error: object
  /** The same inside a stream, with its framing. */
  readonly errorEvent: string
}

const page = `<html>${'x'.repeat(2_000_000)}</html>`
const html = { 'content-type': 'text/html' }
const json = { 'content-type': 'application/json' }
const eventStream = { 'content-type': 'text/event-stream' }
const hurry = { firstUpdateTimeoutMs: 60, idleTimeoutMs: 60, timeoutMs: 60 }

// On a machine that is busy, a call in a hurry may be over before its request arrives, or end then.
const atMostOne = { atMost: 1 }

const modes = ['whole', 'streamed'] as const
type Mode = (typeof modes)[number]

function ask(client: ChatClient, mode: Mode, request: ChatRequest): Promise<unknown> {
  return mode === 'whole' ? client.respond(request) : collect(client.stream(request))
}

/** The beginning of an answer, up to and including the first piece of text. */
function beginningOf(
  { whole, sse }: LeakRow['recording'],
  mode: Mode,
): readonly [Record<string, string>, string] {
  if (mode === 'whole') return [json, JSON.stringify(whole).slice(0, 40)]
  return [eventStream, sse.slice(0, sse.indexOf('\n\n', sse.search(/"The( Douro flows\.)?"/)) + 2)]
}

/** The tests, for each API plain and streamed. */
export function describeNoLeaks(rows: readonly LeakRow[]): void {
  let server: RawServer
  let watch: LeakWatch
  const nothingIsLeft = ({ signal }: ChatRequest, requests: Arrivals): Promise<void> =>
    watch.nothingIsLeft(signal, requests)

  beforeAll(async () => {
    server = await RawServer.start()
    watch = new LeakWatch(server)
  })
  afterAll(async () => {
    watch.stop()
    await server.stop()
  })
  aroundEach((runTest) => watch.during(runTest))

  describe.each(rows.flatMap((each) => modes.map((mode) => ({ ...each, mode }))))(
    '$api, $mode',
    ({ recording, mode, open: openAt, error, errorEvent }) => {
      const open = (timeouts: Partial<typeof hurry> = {}): ChatClient =>
        openAt(server.url, timeouts)
      const [headers, begun] = beginningOf(recording, mode)
      const whole = mode === 'whole' ? recording.whole : recording.sse

      test.each<[string, Handler]>([
        ...[400, 401, 404, 409, 429, 500, 503].map((status): [string, Handler] => [
          `status ${status}`,
          answer(error, { status }),
        ]),
        ['a status without a body', answer('', { status: 502 })],
        ['a status with a long page', answer(page, { status: 502, headers: html })],
        ['a status whose body is cut', begin(500, json, '{"error":', (out) => out.destroy())],
        ['a long page', answer(page, { headers: html })],
        ['an empty body', answer('', { headers: json })],
        ['an empty stream', answer('')],
        ['no content', answer('', { status: 204 })],
        ['half of a JSON', answer('{"id":', { headers: json })],
        ['another JSON', answer({ status: 'ok' })],
        ['a reset before the headers', (out) => void out.socket!.resetAndDestroy()],
        ['a close before the headers', (out) => void out.destroy()],
        [
          'a reset in the middle',
          begin(200, headers, begun, (out) => out.socket!.resetAndDestroy()),
        ],
        ['a cut in the middle', begin(200, headers, begun, (out) => out.destroy())],
        ['an early end', begin(200, headers, begun, (out) => out.end())],
      ])('%s', async (_name, handler) => {
        server.handler = handler
        const request = clientRequest()

        const failure = await failureOf(ask(open(), mode, request))

        expect(isProviderError(failure)).toBe(true)
        await nothingIsLeft(request, 1)
      })

      test.each<[string, Handler]>([
        ['a page that stalls', begin(200, html, '<html>')],
        ['an event that is no JSON', begin(200, eventStream, 'data: {"id":\n\n')],
        ['an error in an event', begin(200, eventStream, errorEvent)],
        [
          'a length that is not reached',
          begin(200, { ...headers, 'content-length': '90000' }, begun),
        ],
        ['silence before the headers', () => {}],
        ['silence behind the headers', begin(200, headers, '\n')],
        ['silence in the middle', begin(200, headers, begun)],
      ])('%s, which a time limit ends', async (_name, handler) => {
        server.handler = handler
        const request = clientRequest()

        const failure = await failureOf(ask(open(hurry), mode, request))

        expect(isProviderError(failure)).toBe(true)
        await nothingIsLeft(request, atMostOne)
      })

      test('repeats, and what they repeat', async () => {
        const answers = [
          begin(503, { ...json, 'retry-after-ms': '1' }, '{"error":'),
          answer(page, { status: 502, headers: { ...html, 'retry-after-ms': '1' } }),
          answer(whole),
        ]
        server.handler = (response, request) => answers[watch.served.length - 1]!(response, request)
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
        const arrived = moment()
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
    },
  )

  describe.each(rows)('$api', ({ recording, open: openAt }) => {
    const open = (timeouts: Partial<typeof hurry> = {}): ChatClient => openAt(server.url, timeouts)
    const [, begun] = beginningOf(recording, 'streamed')

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
      await nothingIsLeft(request, atMostOne)
    })

    test('a whole answer’s status whose body stalls', async () => {
      server.handler = begin(500, json, '{"error":')
      const request = clientRequest()

      const failure = await failureOf(open({ idleTimeoutMs: 40 }).respond(request))

      expect(failure).toMatchObject({ kind: 'server', status: 500 })
      await nothingIsLeft(request, 1)
    })

    test('a stream that is left before the headers', async () => {
      const arrived = moment()
      server.handler = () => arrived.resolve()
      const request = clientRequest()
      const iterator = open().stream(request)[Symbol.asyncIterator]()
      const pull = iterator.next()
      await arrived.promise

      await iterator.return!()

      expect(await pull).toEqual({ done: true, value: undefined })
      await nothingIsLeft(request, 1)
    })

    test('a stream that is left before the first pull', async () => {
      const request = clientRequest()

      await open().stream(request)[Symbol.asyncIterator]().return!()

      await expect(nothingIsLeft(request, 0)).resolves.toBeUndefined()
    })

    test('a server that sends more after the end of its answer', async () => {
      server.handler = (response) => {
        response.writeHead(200, eventStream)
        response.write(recording.sse)
        const more = setInterval(() => response.write(': more\n\n'), 20)
        response.on('close', () => clearInterval(more))
      }
      const request = clientRequest()

      await collect(open().stream(request))

      await vi.waitFor(() => expect(watch.served[0]!.closed).toBe(true), patience)
      await nothingIsLeft(request, 1)
    })
  })
}

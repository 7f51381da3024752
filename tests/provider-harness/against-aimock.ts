// Against a mock server that others wrote, from what they know of the providers' APIs.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { ChatClient, ProviderError } from '../../packages/core/src/index.ts'
import { Agent, foldUpdates, isProviderError, tool } from '../../packages/core/src/index.ts'
import { clientRequest, collect, failureOf } from '../../packages/testing/src/index.ts'
import { moment } from './moment.ts'

/** Facts of one API that the suite needs. */
export interface MockedRow {
  readonly api: string
  readonly model: string
  readonly open: (url: string, apiKey: string) => ChatClient
  /** 11 tokens in and 5 out, in the API's own words. */
  readonly usage: Readonly<Record<string, number>>
  /** Reports with status 429, and with 503, besides words. */
  readonly errors: {
    readonly limited: { readonly type: string; readonly code?: string }
    readonly overloaded: { readonly type: string }
  }
}

const words = 'Grüße, 世界! 👋🏽 The quick brown fox jumps over the lazy dog.'
const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `rain in ${city}`,
})
const call = (city: string) => ({ name: 'get_weather', arguments: { city } })

/** The tests, for each API. */
export function describeMocked(rows: readonly MockedRow[]): void {
  const mock = new LLMock({ port: 0, auth: { apiKeys: ['test-key'] } })
  beforeAll(() => mock.start())
  afterAll(() => mock.stop())
  afterEach(() => {
    mock.clearChaos().reset()
  })

  describe.each(rows)('$api of aimock', ({ model: named, open: openAt, usage, errors }) => {
    const open = (apiKey = 'test-key'): ChatClient => openAt(mock.url, apiKey)

    /** The failures of a call and of a stream. */
    const failures = async (question: string): Promise<ProviderError[]> => [
      (await failureOf(open().respond(clientRequest(question)))) as ProviderError,
      (await failureOf(open().stream(clientRequest(question)))) as ProviderError,
    ]

    test.each([1, 2, 7, 1000])(
      'a stream in pieces of %i says what the whole answer says',
      async (chunkSize) => {
        mock.onMessage('hello', { content: words, reasoning: 'Be polite.' }, { chunkSize })

        const whole = await open().respond(clientRequest('hello'))
        const streamed = foldUpdates(await collect(open().stream(clientRequest('hello'))))

        for (const { text, messages, finishReason, model } of [whole, streamed]) {
          expect({ text, finishReason, model }).toEqual({
            text: words,
            finishReason: 'stop',
            model: named,
          })
          expect(messages).toMatchObject([
            {
              role: 'assistant',
              contents: [{ type: 'reasoning', text: 'Be polite.' }, { type: 'text' }],
            },
          ])
        }
      },
    )

    test('usage is what the server counted, streamed or not', async () => {
      mock.onMessage('count', { content: 'Five.', usage })

      const whole = await open().respond(clientRequest('count'))
      const streamed = foldUpdates(await collect(open().stream(clientRequest('count'))))

      const counted = { inputTokens: 11, outputTokens: 5, totalTokens: 16 }
      expect([whole.usage, streamed.usage]).toEqual([counted, counted])
    })

    test('an answer that was cut by length says so', async () => {
      mock.onMessage('continue', { content: 'And then', finishReason: 'length' })

      const whole = await open().respond(clientRequest('continue'))
      const streamed = foldUpdates(await collect(open().stream(clientRequest('continue'))))

      expect([whole.finishReason, streamed.finishReason]).toEqual(['length', 'length'])
    })

    test.each([false, true])(
      'an agent runs the tools that are called (stream: %s)',
      async (stream) => {
        mock.on(
          { userMessage: 'weather', hasToolResult: false },
          { toolCalls: [call('Porto'), call('Oslo')] },
        )
        mock.on({ toolResultContains: 'rain in Oslo' }, { content: 'Rain in both.' })
        const agent = new Agent({ client: open(), tools: [weather] })

        const response = await (stream
          ? agent.run('The weather?', { stream }).finalResponse()
          : agent.run('The weather?'))

        expect(response).toMatchObject({ status: 'completed', text: 'Rain in both.' })
        const results = response.messages.filter(({ role }) => role === 'tool')
        expect(results.flatMap(({ contents }) => contents)).toMatchObject([
          { type: 'function-result', contents: [{ text: 'rain in Porto' }] },
          { type: 'function-result', contents: [{ text: 'rain in Oslo' }] },
        ])
        expect(mock.getRequests()).toHaveLength(2)
      },
    )

    test.each([false, true])('an agent goes through three rounds (stream: %s)', async (stream) => {
      mock.on({ userMessage: 'tour', hasToolResult: false }, { toolCalls: [call('Porto')] })
      mock.on({ toolResultContains: 'rain in Porto' }, { toolCalls: [call('Oslo')] })
      mock.on({ toolResultContains: 'rain in Oslo' }, { toolCalls: [call('Lima')] })
      mock.on({ toolResultContains: 'rain in Lima' }, { content: 'Stay at home.' })
      const agent = new Agent({ client: open(), tools: [weather] })

      const response = await (stream
        ? agent.run('A tour?', { stream }).finalResponse()
        : agent.run('A tour?'))

      expect(response.text).toBe('Stay at home.')
      const calls = response.messages.flatMap(({ contents }) =>
        contents.flatMap((content) =>
          content.type === 'function-call' ? [content.arguments] : [],
        ),
      )
      expect(calls).toEqual(['Porto', 'Oslo', 'Lima'].map((city) => JSON.stringify({ city })))
      expect(response.messages.map(({ role }) => role).join(' ')).toBe(
        'assistant tool assistant tool assistant tool assistant',
      )
    })

    test.each([false, true])(
      'a typed answer is asked for and read (stream: %s)',
      async (stream) => {
        mock.onMessage('umbrella', { content: '{"needed":true}' })
        const schema = z.object({ needed: z.boolean() })
        const agent = new Agent({ client: open(), options: { responseFormat: { schema } } })

        const response = await (stream
          ? agent.run('An umbrella?', { stream }).finalResponse()
          : agent.run('An umbrella?'))

        expect(response.value).toEqual({ needed: true })
      },
    )

    test('a limit says when to come back', async () => {
      mock.onMessage('hello', {
        error: { message: 'Slow down.', ...errors.limited },
        status: 429,
        retryAfter: 3,
      })

      for (const failure of await failures('hello')) {
        expect(failure).toMatchObject({
          kind: 'rate_limit',
          status: 429,
          retry: { retryable: true, afterMs: 3000, replay: 'safe' },
        })
      }
    })

    test.each([false, true])(
      'the SDK’s own repeat gets through a moment’s overload (stream: %s)',
      async (stream) => {
        mock.onMessage('hello', { content: words })
        mock.nextRequestError(503, { message: 'Overloaded.', ...errors.overloaded })
        const request = clientRequest('hello', { transportRetries: 1 })

        const { text } = stream
          ? foldUpdates(await collect(open().stream(request)))
          : await open().respond(request)

        expect(text).toBe(words)
        expect(mock.getRequests().map(({ response }) => response.status)).toEqual([503, 200])
      },
    )

    test('without repeats, a moment’s overload is told', async () => {
      mock.onMessage('hello', { content: words })
      mock.nextRequestError(503, { message: 'Overloaded.', ...errors.overloaded })

      expect(await failureOf(open().stream(clientRequest('hello')))).toMatchObject({
        kind: 'overloaded',
        status: 503,
        retry: { retryable: true },
      })
      expect(mock.getRequests()).toHaveLength(1)
    })

    test.each([1, 2, 4, 6])(
      'a stream cut after %i chunks fails with what had arrived',
      async (truncateAfterChunks) => {
        mock.onMessage(
          'hello',
          { content: words },
          { truncateAfterChunks, chunkSize: 5, latency: 5 },
        )
        const taken: string[] = []

        const failure = (await failureOf(
          (async () => {
            for await (const { contents } of open().stream(clientRequest('hello'))) {
              for (const content of contents) if (content.type === 'text') taken.push(content.text)
            }
          })(),
        )) as ProviderError

        expect(['network', 'truncated_stream']).toContain(failure.kind)
        expect(failure.retry.retryable).toBe(true)
        expect(failure.partial?.text ?? '').toBe(taken.join(''))
        expect(words.startsWith(taken.join(''))).toBe(true)
        expect(taken.join('')).not.toBe(words)
      },
    )

    test('a stream that is left early closes its connection', async () => {
      mock.onMessage('hello', { content: words }, { chunkSize: 1, latency: 20 })
      const closed = moment()
      let served: ServerResponse | undefined
      const watch = (message: unknown): void => {
        served = (message as { response: ServerResponse }).response
        served.on('close', closed.resolve)
      }
      subscribe('http.server.request.start', watch)
      const taken: string[] = []

      for await (const { contents } of open().stream(clientRequest('hello'))) {
        for (const content of contents) if (content.type === 'text') taken.push(content.text)
        if (taken.length === 3) break
      }
      await closed.promise
      unsubscribe('http.server.request.start', watch)

      expect(taken.join('')).toBe(words.slice(0, 3))
      expect(served?.writableFinished).toBe(false)
    })

    test.each([
      ['dropRate', { kind: 'server', status: 500, retry: { retryable: true } }],
      ['malformedRate', { kind: 'server', retry: { retryable: true } }],
      ['rateLimitRate', { kind: 'rate_limit', status: 429, retry: { afterMs: 1000 } }],
      ['disconnectRate', { kind: 'network', retry: { retryable: true } }],
    ])('chaos by `%s` is a failure of the provider', async (rate, expected) => {
      mock.onMessage('hello', { content: words })
      mock.setChaos({ [rate]: 1 })

      for (const failure of await failures('hello')) {
        expect(isProviderError(failure)).toBe(true)
        expect(failure).toMatchObject(expected)
      }
    })

    test('calls at the same time get each their own answer', async () => {
      const names = Array.from({ length: 20 }, (_, at) => `call-${at}.`)
      for (const name of names) mock.onMessage(name, { content: name }, { chunkSize: 2 })
      const client = open()

      const texts = await Promise.all(
        names.map(async (name, at) =>
          at % 2 === 0
            ? (await client.respond(clientRequest(name))).text
            : foldUpdates(await collect(client.stream(clientRequest(name)))).text,
        ),
      )

      expect(texts).toEqual(names)
    })

    test('a question that nobody answers is not found, a wrong key not authorized', async () => {
      const unknown = await failures('nobody knows')
      const refused = await failureOf(open('other').respond(clientRequest('hello')))

      expect(unknown).toMatchObject([{ kind: 'not_found' }, { kind: 'not_found' }])
      expect(refused).toMatchObject({ kind: 'auth', status: 401, retry: { retryable: false } })
    })
  })
}

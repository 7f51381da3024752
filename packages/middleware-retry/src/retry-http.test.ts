import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { AnthropicChatClient } from '@lamella/anthropic'
import { Agent } from '@lamella/core'
import type { ChatClient } from '@lamella/core'
import { OpenAIChatClient, OpenAIChatCompletionsClient } from '@lamella/openai'
import { runIn, runModes, testClock } from '@lamella/testing'
import type { ModelServer, ModelServerFailure } from '@lamella/testing/model-server'
import { startModelServer } from '@lamella/testing/model-server'
import { describe, expect, it } from 'vitest'
import { retry, timeout } from './index.ts'
import { readUpdates, textsOf, withTime } from './failing-run.test-helper.ts'

const clients: readonly [string, (baseURL: string) => ChatClient][] = [
  ['Responses', (baseURL) => new OpenAIChatClient({ baseURL, model: 'm', apiKey: 'k' })],
  [
    'Chat Completions',
    (baseURL) => new OpenAIChatCompletionsClient({ baseURL, model: 'm', apiKey: 'k' }),
  ],
]

const overloaded: ModelServerFailure = { status: 503 }

describe.each(clients)('retry in front of a real server, %s', (_, clientOf) => {
  const start = async (
    failures: readonly ModelServerFailure[] | (() => ModelServerFailure),
    more: { readonly attemptMs?: number; readonly maxRetries?: number } = {},
  ) => {
    const server: ModelServer = await startModelServer({
      failures,
      answer: () => ({ text: 'Good day to you.' }),
    })
    const clock = testClock()
    const { maxRetries = 2, attemptMs } = more
    const limit = attemptMs === undefined ? [] : timeout({ clock, attemptMs })
    const middleware = [retry({ clock, maxRetries }), limit]
    const agent = new Agent({ client: clientOf(server.baseURL), middleware })
    return { server, clock, agent }
  }

  describe.each(runModes)('%s', (mode) => {
    it.each([0, 1, 2, 5])('makes no more requests than %d retries allow', async (maxRetries) => {
      const { server, clock, agent } = await start(() => overloaded, { maxRetries })

      await expect(withTime(clock, runIn(mode, agent))).rejects.toMatchObject({
        kind: 'overloaded',
      })

      expect(server.requests).toHaveLength(maxRetries + 1)
      await server.close()
    })

    it('waits as each dialect of Retry-After asks', async () => {
      const { server, clock, agent } = await start(
        [
          { status: 429, headers: { 'retry-after-ms': '1250' } },
          { status: 429, headers: { 'retry-after': '3' } },
          { status: 503, headers: { 'retry-after': new Date(Date.now() + 20_000).toUTCString() } },
          {
            status: 429,
            headers: { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '4s' },
          },
        ],
        { maxRetries: 4 },
      )

      const { attempts } = await withTime(clock, runIn(mode, agent))

      const delays = attempts.map(({ delayMs = Number.NaN }) => delayMs)
      expect([delays[0], delays[1], delays[3]]).toEqual([1250, 3000, 4000])
      expect(delays[2]).toBeGreaterThan(15_000)
      expect(delays[2]).toBeLessThanOrEqual(20_000)
      await server.close()
    })

    it('does not repeat what is refused', async () => {
      const { server, agent } = await start([{ status: 400 }])

      await expect(runIn(mode, agent)).rejects.toMatchObject({ kind: 'invalid_request' })

      expect(server.requests).toHaveLength(1)
      await server.close()
    })

    it('repeats a request that nobody answered in time, and ends the one before', async () => {
      const { server, clock, agent } = await start([{ delayMs: 3_600_000 }], { attemptMs: 1000 })

      const running = runIn(mode, agent)
      await expect.poll(() => server.requests).toHaveLength(1)
      await clock.advance(1000)
      // The wait in front of the next request, and less than the limit of that.
      await clock.advance(500)
      const response = await running

      expect(response.text).toBe('Good day to you.')
      expect(response.attempts.map(({ reason }) => reason)).toEqual(['timeout', undefined])
      expect(server.requests.map(({ outcome }) => outcome)).toEqual(['left', 'answered'])
      await server.close()
    })
  })

  it.each([1, 2, 3, 4, 5, 6])(
    'a stream cut after %d events sends nothing twice',
    async (events) => {
      const { server, clock, agent } = await start([{ cutAfterEvents: events }])

      const { updates, error, response } = await withTime(clock, readUpdates(agent))

      const text = textsOf(updates).join('')
      const isWhole = error === undefined
      const answer = 'Good day to you.'
      expect(updates.some(({ restart }) => restart)).toBe(false)
      expect(answer.startsWith(text)).toBe(true)
      expect(response?.text).toBe(isWhole ? answer : undefined)
      const isPart = text !== '' && server.requests.length === 1
      expect(isWhole ? text === answer : isPart).toBe(true)
      await server.close()
    },
  )
})

describe('retry in front of a real server, Messages', () => {
  const serve = async (respond: (index: number, outgoing: ServerResponse) => void) => {
    let requests = 0
    const server = createServer((incoming, outgoing) => {
      incoming.resume()
      respond(requests++, outgoing)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const baseURL = `http://127.0.0.1:${port}`
    const clock = testClock()
    const agent = new Agent({
      client: new AnthropicChatClient({ baseURL, apiKey: 'k', model: 'm' }),
      middleware: retry({ clock, random: () => 1 }),
    })
    const close = (): void => {
      server.closeAllConnections()
      server.close()
    }
    return { agent, clock, close, count: () => requests }
  }

  it.each(runModes)('makes no more requests than it may, and waits as asked, %s', async (mode) => {
    const { agent, clock, close, count } = await serve((index, outgoing) => {
      const hint = index === 0 ? { 'retry-after': '2' } : undefined
      outgoing.writeHead(529, { 'content-type': 'application/json', ...hint })
      outgoing.end('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}')
    })

    await expect(withTime(clock, runIn(mode, agent))).rejects.toMatchObject({
      kind: 'overloaded',
      outcome: { attempts: [{ delayMs: 2000 }, { delayMs: 1000 }, {}] },
    })
    expect(count()).toBe(3)
    close()
  })

  it.each([1, 2, 3, 4, 5, 6])(
    'sends nothing twice of a stream cut after %d events',
    async (events) => {
      const { agent, clock, close, count } = await serve((index, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
        const isCut = index === 0
        outgoing.write(goodDay.slice(0, isCut ? events : undefined).join(''), () =>
          isCut ? outgoing.destroy() : outgoing.end(),
        )
      })

      const { updates, error, response } = await withTime(clock, readUpdates(agent))

      const text = textsOf(updates).join('')
      expect('Good day.'.startsWith(text)).toBe(true)
      expect(response?.text).toBe(error === undefined ? 'Good day.' : undefined)
      expect(count()).toBe(error === undefined && events < 6 ? 2 : 1)
      close()
    },
  )
})

const goodDay = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Good ' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'day.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

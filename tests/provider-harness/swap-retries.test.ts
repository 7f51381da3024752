import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatOptions } from '../../packages/core/src/index.ts'
import { Agent, chatMiddleware, isProviderError } from '../../packages/core/src/index.ts'
import type { Handler } from '../../packages/testing/src/raw-server.ts'
import { answer, RawServer } from '../../packages/testing/src/raw-server.ts'
import type { RunMode } from '../../packages/testing/src/index.ts'
import { runIn, runModes } from '../../packages/testing/src/index.ts'
import type { SwapProvider } from './swap-providers.ts'
import { providers } from './swap-providers.ts'

// One owner of retries: the SDK behind a client, or a middleware that has told it to make none.

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

const soon = { 'retry-after-ms': '1' }
const failures: Readonly<Record<string, Handler>> = {
  'status 503': answer({ error: { message: 'busy' } }, { status: 503, headers: soon }),
  'status 429': answer({ error: { message: 'slower' } }, { status: 429, headers: soon }),
  'status 500': answer({ error: { message: 'oh' } }, { status: 500, headers: soon }),
  'a cut connection': (response) => void response.socket?.destroy(),
}
const busy = failures['status 503']!

/** How many requests arrive while a client's one call fails. */
async function requestsOf(
  provider: SwapProvider,
  failure: Handler,
  options: ChatOptions,
  mode: RunMode,
): Promise<number> {
  server.received.length = 0
  server.handler = failure
  const client = provider.open(server.url)
  const failed =
    mode === 'plain'
      ? client.getResponse('Hi', options)
      : client.getResponse('Hi', { ...options, stream: true }).finalResponse()
  await expect(failed).rejects.toSatisfy(isProviderError)
  return server.received.length
}

const cases = providers.flatMap((provider) => runModes.map((mode) => ({ provider, mode })))

describe.each(cases)('$provider.name, $mode', ({ provider, mode }) => {
  test.each(Object.entries(failures))('asks once without retries: %s', async (_name, failure) => {
    expect(await requestsOf(provider, failure, { transportRetries: 0 }, mode)).toBe(1)
  })

  test('asks as often as it is told', async () => {
    expect(await requestsOf(provider, busy, { transportRetries: 1 }, mode)).toBe(2)
    expect(await requestsOf(provider, busy, { transportRetries: 4 }, mode)).toBe(5)
  })

  test('retries twice where nothing is said, as its SDK does', async () => {
    expect(await requestsOf(provider, busy, {}, mode)).toBe(3)
  })

  test('sends one request for each attempt of a middleware that owns the retries', async () => {
    const { mark, model } = provider
    const said = provider.reply({ mark, model, round: 0, text: 'Here I am.' })
    server.received.length = 0
    server.handler = (response, request) => {
      return (server.received.length < 3 ? busy : said)(response, request)
    }
    const retry = chatMiddleware('retry', async (context, callNext) => {
      context.options = { ...context.options, transportRetries: 0 }
      for (let attempt = 1; ; attempt++) {
        try {
          await callNext()
          return
        } catch (error) {
          if (attempt === 3) throw error
        }
      }
    })
    const client = provider.open(server.url)
    const agent = new Agent({ client, middleware: [retry] })

    const { text } = await runIn(mode, agent)

    expect(text).toBe('Here I am.')
    // The SDK's own count, where there is an SDK: a repeat of its own would have a higher one.
    const counts = server.received.map(({ headers }) => headers['x-stainless-retry-count'] ?? '0')
    expect(counts).toEqual(['0', '0', '0'])
  })
})

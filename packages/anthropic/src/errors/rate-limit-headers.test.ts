import { foldUpdates } from '@lamella/core'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { clientRequest, collect, failureOf } from '@lamella/testing'
import { messagesRecording } from '../../fixtures/messages-recording.ts'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { AnthropicChatClient } from '../anthropic-chat-client.ts'

let server: RawServer
let client: AnthropicChatClient
beforeAll(async () => {
  server = await RawServer.start()
  client = new AnthropicChatClient({ apiKey: 'key', baseURL: server.url, model: 'm' })
})
afterAll(() => server.stop())
afterEach(() => {
  vi.useRealTimers()
})

const now = Date.parse('2026-11-21T12:00:00Z')
const headers = {
  'anthropic-ratelimit-requests-limit': '50',
  'anthropic-ratelimit-requests-remaining': '49',
  'anthropic-ratelimit-requests-reset': '2026-11-21T12:00:01Z',
  'anthropic-ratelimit-input-tokens-limit': '30000',
  'anthropic-ratelimit-input-tokens-remaining': '29000',
  'anthropic-ratelimit-input-tokens-reset': '2026-11-21T12:01:00Z',
  'anthropic-ratelimit-output-tokens-remaining': '8000',
}
const told = {
  requests: { limit: 50, remaining: 49, resetAt: now + 1000 },
  inputTokens: { limit: 30_000, remaining: 29_000, resetAt: now + 60_000 },
  outputTokens: { remaining: 8000 },
}
const { whole, sse } = messagesRecording([{ type: 'text', text: 'Hello.', citations: null }])

test('what is left of limits is in the metadata of an answer, whole and streamed', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now })

  server.handler = answer(whole, { headers })
  const plain = await client.respond(clientRequest())
  server.handler = answer(sse, { headers })
  const updates = await collect(client.stream(clientRequest()))

  expect(plain.metadata['rateLimit']).toEqual(told)
  expect(foldUpdates(updates)).toMatchObject({ text: 'Hello.', metadata: plain.metadata })
  expect(updates.filter(({ metadata }) => metadata?.['rateLimit'])).toHaveLength(1)
})

test('what is left of limits is in the details of an error', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now })
  const error = { type: 'error', error: { type: 'rate_limit_error', message: 'No.' } }
  server.handler = answer(error, { status: 429, headers })

  for (const work of [client.respond(clientRequest()), client.stream(clientRequest())]) {
    expect(await failureOf(work)).toMatchObject({
      kind: 'rate_limit',
      details: { type: 'rate_limit_error', rateLimit: told },
    })
  }
})

test('nothing is told where the headers say nothing', async () => {
  server.handler = answer(whole)

  expect((await client.respond(clientRequest())).metadata).not.toHaveProperty('rateLimit')
})

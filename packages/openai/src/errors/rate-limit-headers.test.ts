import { foldUpdates } from '@lamella/core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { clientRequest, collect, failureOf } from '@lamella/testing'
import { completionsRecording } from '../../fixtures/completions-recording.ts'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { responsesRecording } from '../../fixtures/responses-recording.ts'
import { OpenAIChatClient } from '../openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from '../openai-chat-completions-client.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())
afterEach(() => {
  vi.useRealTimers()
})

const now = Date.parse('2026-11-21T12:00:00Z')
const headers = {
  'x-ratelimit-limit-requests': '500',
  'x-ratelimit-remaining-requests': '499',
  'x-ratelimit-reset-requests': '120ms',
  'x-ratelimit-limit-tokens': '30000',
  'x-ratelimit-remaining-tokens': '29000',
  'x-ratelimit-reset-tokens': '1m2s',
}
const told = {
  requests: { limit: 500, remaining: 499, resetAt: now + 120 },
  tokens: { limit: 30_000, remaining: 29_000, resetAt: now + 62_000 },
}

const responses = responsesRecording([
  {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Hello there.', annotations: [] }],
  },
])
const completions = completionsRecording({ role: 'assistant', content: 'Hello there.' })

describe.each([
  ['Responses', OpenAIChatClient, responses],
  ['Chat Completions', OpenAIChatCompletionsClient, completions],
] as const)('what %s says about limits', (_, Client, { whole, sse }) => {
  const client = () => new Client({ apiKey: 'key', baseURL: server.baseURL, model: 'm' })

  test('is in the metadata of an answer, whole and streamed', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now })

    server.handler = answer(whole, { headers })
    const plain = await client().respond(clientRequest())
    server.handler = answer(sse, { headers })
    const updates = await collect(client().stream(clientRequest()))

    expect(plain.metadata['rateLimit']).toEqual(told)
    expect(foldUpdates(updates)).toMatchObject({ text: 'Hello there.', metadata: plain.metadata })
    expect(updates.filter(({ metadata }) => metadata?.['rateLimit'])).toHaveLength(1)
  })

  test('is in the details of an error', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now })
    server.handler = answer({ error: { message: 'No.' } }, { status: 429, headers })

    const error = await failureOf(client().respond(clientRequest()))

    expect(error).toMatchObject({ kind: 'rate_limit', details: { rateLimit: told } })
  })

  test('is nowhere where it says nothing', async () => {
    server.handler = answer(whole, { headers: { 'x-ratelimit-limit-requests': 'many' } })

    expect((await client().respond(clientRequest())).metadata).not.toHaveProperty('rateLimit')
  })
})

import { inspect } from 'node:util'
import { OpenAI } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientRequest, failureOf } from '@lamella/testing'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { responsesRecording } from '../fixtures/responses-recording.ts'
import { OpenAIChatClient as FetchClient } from './fetch/openai-chat-client.ts'
import { OpenAIChatClient } from './openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from './openai-chat-completions-client.ts'
import { sdkSender } from './sdk-sender.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

const key = 'test-key-that-nobody-may-see'
const unsendable = {
  kind: 'invalid_request',
  message: 'openai: the request cannot be sent: its address or one of its headers is not valid',
}

describe.each([
  { api: 'Responses', Client: OpenAIChatClient },
  { api: 'Chat Completions', Client: OpenAIChatCompletionsClient },
])('$api, with an SDK client of one’s own', ({ Client }) => {
  test.each([
    [
      'a key',
      () => ({ client: new OpenAI({ apiKey: `${key}\nx`, baseURL: server.baseURL }) }),
      {
        kind: 'auth',
        message:
          'openai: the API key holds a character that no header can carry, such as a line break',
      },
    ],
    [
      'a header',
      () => ({
        client: new OpenAI({
          apiKey: 'k',
          baseURL: server.baseURL,
          defaultHeaders: { 'x-a': `${key}\n.` },
        }),
      }),
      unsendable,
    ],
    [
      'a password in the address',
      () => ({ client: new OpenAI({ apiKey: 'k', baseURL: `http://user:${key}@localhost/v1` }) }),
      unsendable,
    ],
    [
      'an address that is none',
      () => ({ client: new OpenAI({ apiKey: 'k', baseURL: `/v1?key=${key}` }) }),
      unsendable,
    ],
  ])(
    '%s that can never be sent is no reason to repeat, and stays unsaid',
    async (_, options, expected) => {
      const client = new Client({ model: 'm', ...options() })

      for (const work of [client.respond(clientRequest()), client.stream(clientRequest())]) {
        const failure = await failureOf(work)

        expect(failure).toMatchObject({ ...expected, retry: { retryable: false, replay: 'safe' } })
        expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(key)
      }
    },
  )
})

test('a client that sends with fetch takes an SDK client as its sender', async () => {
  server.handler = answer(responsesRecording([]).whole)
  const sdk = new OpenAI({ apiKey: 'theirs', baseURL: server.baseURL })

  await new FetchClient({ client: sdkSender(sdk), model: 'm' }).respond(clientRequest())

  expect(server.last.path).toBe('/v1/responses')
  expect(server.last.headers['authorization']).toBe('Bearer theirs')
  expect(server.last.headers['x-stainless-lang']).toBe('js')
})

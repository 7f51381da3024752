import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AnthropicChatClient } from '../../packages/anthropic/src/index.ts'
import type {
  ChatClient,
  ChatResponse,
  Content,
  MessageInit,
} from '../../packages/core/src/index.ts'
import { foldUpdates, isProviderError, message } from '../../packages/core/src/index.ts'
import { OpenAIChatClient, OpenAIChatCompletionsClient } from '../../packages/openai/src/index.ts'
import { clientRequest, collect } from '../../packages/testing/src/index.ts'
import { RawServer } from '../../packages/testing/src/raw-server.ts'
import { isLong } from '../support/runs.ts'
import type { Cassette } from './cassettes.ts'
import { readCassettes } from './cassettes.ts'
import type { Wire } from './swap-problems.ts'
import { dialectProviders, providers } from './swap-providers.ts'

// Each recorded answer, whole or broken off, is kept as JSON. The request that follows it obeys the rules of every
// provider, not only of the one that gave the answer.

// Where the files were taken out of a recording, no request can hold them.
const recordings = readCassettes<unknown>().filter(
  ({ response }) => !/ELIDED_BASE64|"result": *"[^"]*\.\.\./.test(response.body),
)
if (recordings.length === 0) {
  console.warn('SKIPPED: the recordings are not beside this checkout, no next request is judged')
}

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

describe.skipIf(recordings.length === 0)('the request behind a recorded answer', () => {
  test.for(recordings)('$id is legal everywhere', async (recording) => {
    const response = await answerOf(recording)
    if (response === undefined) return
    const history = JSON.parse(JSON.stringify(response.messages)) as MessageInit[]
    const results = response.functionCalls.map(
      ({ callId }): Content => ({ type: 'function-result', callId, contents: [said('It is 20.')] }),
    )
    const asked = [
      message('user', 'The question.'),
      ...history,
      ...(results.length > 0 ? [message('tool', results)] : []),
      message('user', 'And now?'),
    ]

    const problems: string[] = []
    // The quick tests take turns: a third of the providers for each recording.
    const at = recordings.indexOf(recording)
    const readers = [...providers, ...dialectProviders].filter(
      (_, index) => isLong || (index + at) % 3 === 0,
    )
    for (const provider of readers) {
      const sent: Wire[] = []
      server.handler = (reply, request) => {
        sent.push(request.body)
        const { mark, model } = provider
        return provider.reply({ mark, model, round: 0, text: 'Well.' })(reply, request)
      }
      await provider.open(server.url).respond(clientRequest(asked, { transportRetries: 0 }))
      problems.push(
        ...sent
          .flatMap((body) => provider.problems(body))
          .map((each) => `${provider.name}: ${each}`),
      )
      expect(sent).toHaveLength(1)
    }

    expect(problems).toEqual([])
  })
})

const said = (text: string) => ({ type: 'text', text }) as const

/** The answer of a recording, or as much of it as came before a failure. */
async function answerOf(recording: Cassette<unknown>): Promise<ChatResponse | undefined> {
  const { body, headers, status } = recording.response
  const client = clientOf(recording, async () => new Response(body, { status, headers }))
  const request = clientRequest('The question.', { transportRetries: 0 })
  try {
    return recording.stream
      ? foldUpdates(await collect(client.stream(request)))
      : await client.respond(request)
  } catch (error) {
    return isProviderError(error) ? error.partial : undefined
  }
}

function clientOf(
  { api, provider }: Cassette<unknown>,
  fetch: typeof globalThis.fetch,
): ChatClient {
  const options = { apiKey: 'test-key', model: 'test-model', provider, fetch }
  if (api.startsWith('anthropic')) return new AnthropicChatClient(options)
  const Client = api.endsWith('responses') ? OpenAIChatClient : OpenAIChatCompletionsClient
  return new Client(options)
}

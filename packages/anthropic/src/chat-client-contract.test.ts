import type { ClientHarness, ClientScenario } from '@lamella/testing'
import { chatClientContract, describeContract } from '@lamella/testing'
import { messagesContract } from '@lamella/testing/model-server'
import { describe, it } from 'vitest'
import type { Recording } from '../fixtures/messages-recording.ts'
import { messagesRecording } from '../fixtures/messages-recording.ts'
import type { Handler } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { AnthropicChatClient } from './anthropic-chat-client.ts'
import { AnthropicChatClient as FetchClient } from './fetch/anthropic-chat-client.ts'

async function create(scenario: ClientScenario): Promise<ClientHarness> {
  let open = 0
  const server = await RawServer.start((response, request) => {
    open++
    response.on('close', () => open--)
    return handler(scenario)(response, request)
  })
  return {
    client: new AnthropicChatClient({ apiKey: 'test-key', baseURL: server.url, model: 'm' }),
    openExchanges: () => open,
    repeatsIds: true,
    lastBody: () => JSON.stringify(server.last.body),
    close: () => server.stop(),
  }
}

function handler(scenario: ClientScenario): Handler {
  switch (scenario.kind) {
    case 'text':
      return play(say(scenario.text))
    case 'calls': {
      const blocks = scenario.calls.map(({ name, arguments: json }, at) => ({
        type: 'tool_use',
        id: `toolu_${at}`,
        name,
        input: JSON.parse(json),
      }))
      return play(messagesRecording(blocks, { stop: 'tool_use' }))
    }
    case 'status': {
      const { status, retryAfterSeconds } = scenario
      const headers =
        retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` }
      return answer({ type: 'error', error: { message: 'Sorry.' } }, { status, headers })
    }
    default:
      return breakOff(say(scenario.text).sse, scenario.kind)
  }
}

function say(text: string): Recording {
  return messagesRecording([{ type: 'text', text, citations: null }])
}

function play({ whole, sse }: Recording): Handler {
  return (response, request) => answer(request.body.stream ? sse : whole)(response, request)
}

function breakOff(sse: string, how: 'cut' | 'ended-early' | 'stalled'): Handler {
  const begun = sse.slice(0, sse.indexOf('\n\n', sse.indexOf('"The"')) + 2)
  return (response, request) => {
    if (!request.body.stream) return
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(begun, () => {
      if (how === 'cut') response.destroy()
      if (how === 'ended-early') response.end()
    })
  }
}

describeContract(chatClientContract({ name: 'AnthropicChatClient', create }), { describe, it })

for (const [name, Client] of [
  ['AnthropicChatClient', AnthropicChatClient],
  ['AnthropicChatClient with fetch', FetchClient],
] as const) {
  const contract = messagesContract({
    name: `${name}, Messages`,
    create: ({ url: baseURL }) => new Client({ apiKey: 'test-key', baseURL, model: 'm' }),
  })

  describeContract(contract, { describe, it })
}

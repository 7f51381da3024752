import type { ClientHarness, ClientScenario } from '@lamella/testing'
import { chatClientContract, describeContract } from '@lamella/testing'
import { completionsContract } from '@lamella/testing/model-server'
import { describe, it } from 'vitest'
import { completionsRecording } from '../fixtures/completions-recording.ts'
import type { Handler } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import type { Recording } from '../fixtures/responses-recording.ts'
import { responsesRecording } from '../fixtures/responses-recording.ts'
import { OpenAIChatCompletionsClient as FetchCompletionsClient } from './fetch/openai-chat-completions-client.ts'
import { OpenAIChatClient } from './openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from './openai-chat-completions-client.ts'

type Calls = Extract<ClientScenario, { kind: 'calls' }>['calls']

const apis = [
  {
    Client: OpenAIChatClient,
    say: (text: string): Recording => {
      const content = [{ type: 'output_text', text, annotations: [] }]
      return responsesRecording([{ id: 'msg_1', type: 'message', role: 'assistant', content }])
    },
    call: (calls: Calls): Recording =>
      responsesRecording(
        calls.map((call, at) => ({
          id: `fc_${at}`,
          type: 'function_call',
          call_id: `call_${at}`,
          ...call,
        })),
      ),
  },
  {
    Client: OpenAIChatCompletionsClient,
    say: (text: string): Recording => completionsRecording({ content: text }),
    call: (calls: Calls): Recording =>
      completionsRecording(
        {
          tool_calls: calls.map((call, at) => ({
            id: `call_${at}`,
            type: 'function',
            function: call,
          })),
        },
        { finish: 'tool_calls' },
      ),
  },
]

for (const { Client, say, call } of apis) {
  const handler = (scenario: ClientScenario): Handler => {
    switch (scenario.kind) {
      case 'text':
        return play(say(scenario.text))
      case 'calls':
        return play(call(scenario.calls))
      case 'status': {
        const { status, retryAfterSeconds } = scenario
        const headers =
          retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` }
        return answer({ error: { message: 'Sorry.' } }, { status, headers })
      }
      default:
        return breakOff(say(scenario.text).sse, scenario.kind)
    }
  }
  const create = async (scenario: ClientScenario): Promise<ClientHarness> => {
    let open = 0
    const server = await RawServer.start((response, request) => {
      open++
      response.on('close', () => open--)
      return handler(scenario)(response, request)
    })
    return {
      client: new Client({ apiKey: 'test-key', baseURL: server.baseURL, model: 'm' }),
      openExchanges: () => open,
      repeatsIds: true,
      lastBody: () => JSON.stringify(server.last.body),
      close: () => server.stop(),
    }
  }

  describeContract(chatClientContract({ name: Client.name, create }), { describe, it })
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

for (const [name, Client] of [
  ['OpenAIChatCompletionsClient', OpenAIChatCompletionsClient],
  ['OpenAIChatCompletionsClient with fetch', FetchCompletionsClient],
] as const) {
  const contract = completionsContract({
    name: `${name}, Chat Completions`,
    create: ({ baseURL }) => new Client({ apiKey: 'test-key', baseURL, model: 'm' }),
  })

  describeContract(contract, { describe, it })
}

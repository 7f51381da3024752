import type { ChatClient } from '@lamella/core'
import { Agent, chatMiddleware, hostedTool, tool } from '@lamella/core'
import { lifecycle } from '@lamella/lifecycle'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { completionsRecording } from '../fixtures/completions-recording.ts'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { responsesRecording } from '../fixtures/responses-recording.ts'
import { OpenAIChatClient } from './openai-chat-client.ts'
import { OpenAIChatCompletionsClient } from './openai-chat-completions-client.ts'
import type { OpenAIClientOptions } from './sdk-options.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `rain in ${city}`,
})
const json = '{"city":"Porto","rain":true}'
const reasoning = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'sealed' }
const item = {
  id: 'fc_1',
  type: 'function_call',
  call_id: 'call_1',
  name: 'get_weather',
  arguments: '{"city":"Porto"}',
}
const call = {
  id: 'call_1',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Porto"}' },
}

const apis = [
  {
    name: 'Responses',
    Client: OpenAIChatClient,
    rounds: [
      responsesRecording([reasoning, item]),
      responsesRecording([
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: json, annotations: [] }],
        },
      ]),
    ],
    second: {
      input: [
        { role: 'user', content: 'Weather in Porto?' },
        reasoning,
        item,
        { type: 'function_call_output', call_id: 'call_1', output: 'rain in Porto' },
      ],
    },
  },
  {
    name: 'Chat Completions',
    Client: OpenAIChatCompletionsClient,
    rounds: [
      completionsRecording({ content: null, tool_calls: [call] }, { finish: 'tool_calls' }),
      completionsRecording({ content: json }),
    ],
    second: {
      messages: [
        { role: 'user', content: 'Weather in Porto?' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'rain in Porto' },
      ],
    },
  },
]

describe.each(apis)('an agent on $name', ({ Client, rounds, second }) => {
  const open = (options: OpenAIClientOptions = {}): ChatClient =>
    new Client({ apiKey: 'test-key', baseURL: server.baseURL, model: 'gpt-5-mini', ...options })
  const play = (): void => {
    let round = 0
    server.received.length = 0
    server.handler = (response, request) => {
      const { whole, sse } = rounds[round++]!
      return answer(request.body.stream ? sse : whole)(response, request)
    }
  }

  test.each(['whole', 'streamed'])('runs its tools and gives a typed answer, %s', async (mode) => {
    play()
    const schema = z.object({ city: z.string(), rain: z.boolean() })
    const agent = new Agent({
      client: open(),
      tools: [weather],
      options: { responseFormat: { schema } },
    })

    const response = await (mode === 'whole'
      ? agent.run('Weather in Porto?')
      : agent.run('Weather in Porto?', { stream: true }).finalResponse())

    expect(response.value).toEqual({ city: 'Porto', rain: true })
    expect(response.usage).toMatchObject({ inputTokens: 40, outputTokens: 24 })
    expect(server.received[1]!.body).toMatchObject(second)
    const answers = response.messages.filter(({ role }) => role === 'assistant')
    const origin = { provider: 'openai', model: 'gpt-5-mini' }
    expect(answers.map((message) => message.origin)).toEqual([origin, origin])
  })

  test('a middleware of the client sees every model call', async () => {
    play()
    const seen: unknown[] = []
    const spy = chatMiddleware('spy', async (context, callNext) => {
      await callNext()
      seen.push(context.result?.finishReason)
    })

    await new Agent({ client: open({ middleware: [spy] }), tools: [weather] }).run(
      'Weather in Porto?',
    )

    expect(seen).toEqual(['tool-calls', 'stop'])
  })
})

test('deferred tools are found by OpenAI’s own search, and run here', async () => {
  const found = {
    id: 'tso_1',
    type: 'tool_search_output',
    call_id: null,
    execution: 'server',
    status: 'completed',
    tools: [{ type: 'function', name: 'get_weather', defer_loading: true }],
  }
  const search = {
    id: 'tsc_1',
    type: 'tool_search_call',
    call_id: null,
    execution: 'server',
    status: 'completed',
    arguments: { paths: ['get_weather'] },
  }
  const said = [{ type: 'output_text', text: 'It rains.', annotations: [] }]
  const rounds = [
    responsesRecording([search, found, item]).whole,
    responsesRecording([{ id: 'msg_1', type: 'message', role: 'assistant', content: said }]).whole,
  ]
  let round = 0
  server.handler = (response, request) => answer(rounds[round++]!)(response, request)
  const client = new OpenAIChatClient({ apiKey: 'test-key', baseURL: server.baseURL, model: 'm' })
  const defer = lifecycle({
    name: 'defer',
    beforeTurn: ({ run }) => run.tools.defer('get_weather'),
  })
  const tools = [hostedTool('tool_search', {}), weather]

  const { text } = await new Agent({ client, tools, middleware: [defer] }).run('Weather?')

  expect(text).toBe('It rains.')
  const { input, tools: sent } = server.last.body
  expect(sent).toMatchObject([
    { type: 'tool_search' },
    { type: 'function', name: 'get_weather', defer_loading: true },
  ])
  expect(input.slice(1)).toMatchObject([
    search,
    found,
    { type: 'function_call', call_id: 'call_1' },
    { type: 'function_call_output', call_id: 'call_1', output: 'rain in Porto' },
  ])
})

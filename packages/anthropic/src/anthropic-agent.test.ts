import type { AgentResponse } from '@lamella/core'
import { Agent, hostedTool, tool } from '@lamella/core'
import { lifecycle } from '@lamella/lifecycle'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { messagesRecording } from '../fixtures/messages-recording.ts'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { AnthropicChatClient } from './anthropic-chat-client.ts'

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
const thinking = { type: 'thinking', thinking: 'Look it up.', signature: 'sealed' }
const calls = ['Porto', 'Faro'].map((city, at) => ({
  type: 'tool_use',
  id: `toolu_${at}`,
  name: 'get_weather',
  input: { city },
}))
const json = '{"city":"Porto","rain":true}'
const rounds = [
  messagesRecording([thinking, ...calls], { stop: 'tool_use', isInterleaved: true }),
  messagesRecording([{ type: 'text', text: json, citations: null }], { id: 'msg_2' }),
]

async function ask(mode: string): Promise<AgentResponse> {
  let round = 0
  server.received.length = 0
  server.handler = (response, request) => {
    const { whole, sse } = rounds[round++]!
    return answer(request.body.stream ? sse : whole)(response, request)
  }
  const client = new AnthropicChatClient({
    apiKey: 'test-key',
    baseURL: server.url,
    model: 'claude-sonnet-5-5',
  })
  const schema = z.object({ city: z.string(), rain: z.boolean() })
  const agent = new Agent({ client, tools: [weather], options: { responseFormat: { schema } } })
  return mode === 'whole'
    ? agent.run('Weather?')
    : agent.run('Weather?', { stream: true }).finalResponse()
}

test.each(['whole', 'streamed'])('an agent thinks, calls and answers, %s', async (mode) => {
  const response = await ask(mode)

  expect(response.value).toEqual({ city: 'Porto', rain: true })
  expect(response.usage).toMatchObject({ inputTokens: 40, outputTokens: 24, cachedInputTokens: 16 })
  expect(server.received[1]!.body.messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
    { role: 'assistant', content: [thinking, ...calls] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_0', content: 'rain in Porto' },
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain in Faro' },
      ],
    },
  ])
})

test('deferred tools are found by Anthropic’s own search, and run here', async () => {
  const type = 'tool_search_tool_bm25_20251119'
  const search = {
    type: 'server_tool_use',
    id: 'srvtoolu_1',
    name: 'tool_search_tool_bm25',
    input: { query: 'weather' },
  }
  const found = {
    type: 'tool_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: {
      type: 'tool_search_tool_search_result',
      tool_references: [{ type: 'tool_reference', tool_name: 'get_weather' }],
    },
  }
  const answers = [
    messagesRecording([search, found, calls[0]!], { stop: 'tool_use' }).whole,
    messagesRecording([{ type: 'text', text: 'It rains.' }]).whole,
  ]
  let round = 0
  server.handler = (response, request) => answer(answers[round++]!)(response, request)
  const client = new AnthropicChatClient({ apiKey: 'test-key', baseURL: server.url, model: 'm' })
  const defer = lifecycle({
    name: 'defer',
    beforeTurn: ({ run }) => run.tools.defer('get_weather'),
  })
  const tools = [hostedTool('tool_search_tool_bm25', { type }), weather]

  const { text } = await new Agent({ client, tools, middleware: [defer] }).run('Weather?')

  expect(text).toBe('It rains.')
  const { messages, tools: sent } = server.last.body
  expect(sent).toMatchObject([{ type }, { name: 'get_weather', defer_loading: true }])
  expect(messages[1].content).toEqual([search, found, calls[0]])
  expect(messages[2].content).toMatchObject([{ type: 'tool_result', content: 'rain in Porto' }])
})

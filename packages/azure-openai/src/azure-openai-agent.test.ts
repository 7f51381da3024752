import { Agent, jsonSchema, message, tool } from '@lamella/core'
import { startModelServer } from '@lamella/testing/model-server'
import { describe, expect, test } from 'vitest'
import { AzureOpenAIChatClient } from './azure-openai-chat-client.ts'

const weather = tool({
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: jsonSchema({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  }),
  execute: () => 'sunny',
})

describe.each(['chat', 'responses'] as const)('an agent over %s', (api) => {
  test('calls a tool and answers, plain and streamed', async () => {
    await using server = await startModelServer({
      apiKey: 'test-key',
      answer: ({ turns }) =>
        turns.some(({ role }) => role === 'tool')
          ? { text: 'It is sunny.' }
          : { calls: [{ name: 'get_weather', arguments: '{"city":"Oslo"}' }] },
    })
    const options = { endpoint: server.url, apiKey: 'test-key', deployment: 'chat-prod' }
    const client = new AzureOpenAIChatClient({ api, ...options })
    const agent = new Agent({ client, tools: [weather] })

    const plain = await agent.run('How is the weather in Oslo?')
    const streamed = await agent
      .run('How is the weather in Oslo?', { stream: true })
      .finalResponse()

    for (const { status, text, messages } of [plain, streamed]) {
      expect({ status, text }).toEqual({ status: 'completed', text: 'It is sunny.' })
      expect(messages.at(-1)?.origin).toMatchObject({
        provider: 'azure-openai',
        model: 'chat-prod',
      })
    }
    expect(server.requests.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  test('a history of elsewhere is made valid', async () => {
    const client = new AzureOpenAIChatClient({
      api,
      endpoint: 'https://name.openai.azure.com',
      apiKey: 'k',
      deployment: 'd',
    })
    const thought = { type: 'reasoning' as const, text: 'Hm.', origin: { provider: 'anthropic' } }
    const history = [message('assistant', [thought])]

    expect(client.canContinue(history)).toEqual({
      ok: false,
      losses: ['reasoning of anthropic is left out'],
    })
    expect(client.prepareHistory(history)).toEqual([])
  })
})

import { Agent, hostedTool, jsonSchema, tool } from '@lamella/core'
import { runIn, runModes } from '@lamella/testing'
import type { Handler } from '@lamella/testing/raw-server'
import { answer, RawServer } from '@lamella/testing/raw-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { GoogleRecording } from '../fixtures/google-recording.ts'
import { googleRecording } from '../fixtures/google-recording.ts'
import { GoogleChatClient } from './google-chat-client.ts'

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

const model = 'gemini-3-flash'

/** A client that gets these answers, one after another. */
function clientOf(...rounds: readonly GoogleRecording[]): GoogleChatClient {
  server.received.length = 0
  const play: Handler = (response, request) => {
    const { whole, sse } = rounds[server.received.length - 1]!
    return answer(request.path.includes('alt=sse') ? sse : whole)(response, request)
  }
  server.handler = play
  return new GoogleChatClient({ apiKey: 'k', baseURL: server.url, model })
}

const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `rain in ${city}`,
})

describe.each(runModes)('%s', (mode) => {
  test('an agent calls tools side by side, sends their signature back, and reads a schema', async () => {
    const call = (city: string) => ({ functionCall: { name: 'get_weather', args: { city } } })
    const client = clientOf(
      googleRecording([{ ...call('Porto'), thoughtSignature: 'c2ln' }, call('Braga')]),
      googleRecording([{ text: '{"rain":true}' }], { responseId: 'resp_2' }),
    )
    const responseFormat = { schema: z.object({ rain: z.boolean() }) }
    const agent = new Agent({ client, tools: [weather], options: { responseFormat } })

    const { value } = await runIn(mode, agent, { input: 'Weather?' })

    expect(value).toEqual({ rain: true })
    const [, made, results] = server.last.body.contents
    expect(made).toMatchObject({
      role: 'model',
      parts: [{ ...call('Porto'), thoughtSignature: 'c2ln' }, call('Braga')],
    })
    expect(results).toMatchObject({
      role: 'user',
      parts: ['Porto', 'Braga'].map((city) => ({
        functionResponse: { name: 'get_weather', response: { output: `rain in ${city}` } },
      })),
    })
    const ids = made.parts.map((part: { functionCall: { id: string } }) => part.functionCall.id)
    expect(
      results.parts.map((part: { functionResponse: { id: string } }) => part.functionResponse.id),
    ).toEqual(ids)
  })

  test('each request reports a tool that Google cannot be told, and the others run', async () => {
    const foreign = tool({
      name: 'foreign',
      description: '',
      parameters: jsonSchema({
        type: 'object',
        properties: { a: { $ref: 'https://a.example/schema' } },
      }),
      execute: () => 'never',
    })
    const client = clientOf(
      googleRecording([{ functionCall: { name: 'get_weather', args: { city: 'Porto' } } }]),
      googleRecording([{ text: 'Rain.' }], { responseId: 'resp_2' }),
    )
    const agent = new Agent({ client, tools: [foreign, weather] })
    const events: unknown[] = []

    const { text } = await runIn(mode, agent, {
      onEvent: ({ type, data }) => {
        if (type === 'tool_left_out') events.push(data)
      },
    })

    expect(text).toBe('Rain.')
    const leftOut = {
      tool: 'foreign',
      provider: 'google',
      reason: 'its schema refers to another document',
    }
    expect(events).toEqual([leftOut, leftOut])
  })

  test('a tool whose name Google refuses is called under its own', async () => {
    const numbered = tool({
      name: '2nd_opinion',
      description: 'Asks another doctor.',
      parameters: jsonSchema({ type: 'object' }),
      execute: () => 'healthy',
    })
    const client = clientOf(
      googleRecording([{ functionCall: { name: '_2nd_opinion', args: {} } }]),
      googleRecording([{ text: 'You are healthy.' }], { responseId: 'resp_2' }),
    )
    const agent = new Agent({ client, tools: [numbered] })

    const { text } = await runIn(mode, agent)

    expect(text).toBe('You are healthy.')
    const { tools, contents } = server.last.body
    expect(tools[0].functionDeclarations[0].name).toBe('_2nd_opinion')
    expect(contents[1].parts[0].functionCall.name).toBe('_2nd_opinion')
    expect(contents[2].parts[0].functionResponse).toMatchObject({
      name: '_2nd_opinion',
      response: { output: 'healthy' },
    })
  })

  test('the work of a hosted tool goes back to Google', async () => {
    const code = { executableCode: { language: 'PYTHON', code: '6*7' } }
    const result = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '42' } }
    const client = clientOf(
      googleRecording([code, result, { text: 'It is 42.' }]),
      googleRecording([{ text: 'Sure.' }], { responseId: 'resp_2' }),
    )
    const agent = new Agent({ client, tools: [hostedTool('code', { codeExecution: {} })] })
    const session = agent.createSession()

    await runIn(mode, agent, { input: '6*7?', session })
    await runIn(mode, agent, { input: 'Sure?', session })

    expect(server.last.body.tools).toEqual([{ codeExecution: {} }])
    expect(server.last.body.contents[1]).toEqual({
      role: 'model',
      parts: [code, result, { text: 'It is 42.' }],
    })
  })
})

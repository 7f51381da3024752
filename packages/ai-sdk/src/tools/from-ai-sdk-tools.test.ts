import type { RunEvent } from '@lamella/core'
import { Agent } from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { openai } from '@ai-sdk/openai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { aiLines } from '../../fixtures/ai-lines.ts'
import { fromAiSdkTools } from '../index.ts'

const cases = aiLines.flatMap((line) => runModes.map((mode) => ({ ...line, mode })))

describe.each(cases)('tools of $name, $mode', ({ ai, mode }) => {
  const call = (args: Readonly<Record<string, unknown>> = { city: 'Rome' }) =>
    [callFunction('weather', args), 'Done.'] as const
  const inputSchema = z.object({ city: z.string() })

  test('run with their arguments, and know their call', async () => {
    const seen: unknown[] = []
    const tools = fromAiSdkTools({
      weather: ai.tool({
        description: 'Tells the weather.',
        inputSchema,
        execute: ({ city }, { toolCallId, messages, abortSignal, ...rest }) => {
          seen.push({ toolCallId, messages, isSignal: abortSignal instanceof AbortSignal, ...rest })
          return { sky: 'blue', city }
        },
      }),
    })
    const client = scriptedClient(call())

    await runIn(mode, new Agent({ client, tools }), {
      input: 'How is Rome?',
      data: { user: 'eve' },
    })

    expect(resultOf(client)).toMatchObject({ text: '{"sky":"blue","city":"Rome"}' })
    expect(client.requests[0]?.options.tools).toMatchObject([
      { name: 'weather', description: 'Tells the weather.', jsonSchema: { required: ['city'] } },
    ])
    expect(seen).toMatchObject([
      {
        toolCallId: expect.any(String),
        isSignal: true,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'How is Rome?' }] }],
        context: { user: 'eve' },
        experimental_context: { user: 'eve' },
      },
    ])
  })

  test('check what the model sends, with a schema of jsonSchema()', async () => {
    const tools = fromAiSdkTools({
      weather: ai.dynamicTool({
        inputSchema: ai.jsonSchema(
          { type: 'object', properties: { city: { type: 'string' } } },
          {
            validate: (value) =>
              typeof (value as { city: unknown }).city === 'string'
                ? { success: true, value }
                : { success: false, error: new Error('no city') },
          },
        ),
        execute: () => 'never',
      }),
    })
    const client = scriptedClient(call({ city: 3 }))

    await runIn(mode, new Agent({ client, tools }), { input: 'Hi' })

    expect(resultOf(client)?.error).toMatchObject({ code: 'invalid_arguments' })
  })

  test('stream their progress, and result in what comes last', async () => {
    const tools = fromAiSdkTools({
      weather: ai.tool({
        inputSchema,
        async *execute() {
          yield 'looking'
          yield 'still looking'
          yield 'sunny'
        },
      }),
    })
    const client = scriptedClient(call())
    const events: RunEvent[] = []

    await runIn(mode, new Agent({ client, tools }), {
      input: 'Hi',
      onEvent: (event) => events.push(event),
    })

    expect(resultOf(client)).toMatchObject({ text: 'sunny' })
    const progress = events.filter(({ type }) => type.includes('progress'))
    expect(JSON.stringify(progress)).toContain('still looking')
    expect(JSON.stringify(progress)).not.toContain('sunny')
  })

  test('say themselves what the model reads', async () => {
    const tools = fromAiSdkTools({
      weather: ai.tool({
        inputSchema,
        execute: () => ({ degrees: 21 }),
        toModelOutput: ({ output }) => ({
          type: 'content',
          value: [{ type: 'text', text: `${output.degrees} degrees` }],
        }),
      }),
    })
    const client = scriptedClient(call())

    await runIn(mode, new Agent({ client, tools }), { input: 'Hi' })

    expect(resultOf(client)).toMatchObject({ text: '21 degrees' })
  })

  test('ask a person where they need to, and run once that is answered', async () => {
    let runs = 0
    const tools = fromAiSdkTools({
      weather: ai.tool({
        inputSchema,
        needsApproval: ({ city }) => city === 'Rome',
        execute: () => `run ${++runs}`,
      }),
    })
    const client = scriptedClient(call())
    const agent = new Agent({ client, tools })

    const paused = await runIn(mode, agent, { input: 'Hi' })
    const [request] = paused.pending
    expect({ status: paused.status, runs }).toEqual({ status: 'paused', runs: 0 })
    const response = await agent.resume(paused.checkpoint!, { [request!.id]: true })

    expect({ text: response.text, runs }).toEqual({ text: 'Done.', runs: 1 })
  })

  test('pause the run where they have nothing to execute', async () => {
    const tools = fromAiSdkTools({ weather: ai.tool({ inputSchema }) })
    const client = scriptedClient(call())

    const { status, pending } = await runIn(mode, new Agent({ client, tools }), { input: 'Hi' })

    expect(status).toBe('paused')
    expect(pending).toMatchObject([{ kind: 'function-call' }])
  })
})

test("a provider's own tool is a hosted tool", () => {
  const tools = fromAiSdkTools({
    web_search: openai.tools.webSearch({ searchContextSize: 'low' }),
  })

  expect(tools).toMatchObject([
    {
      type: 'hosted',
      name: 'web_search',
      definition: { id: 'openai.web_search', args: { searchContextSize: 'low' } },
    },
  ])
})

test('what cannot be translated is refused by name', () => {
  const later = { jsonSchema: Promise.resolve({ type: 'object' }) }

  expect(() => fromAiSdkTools({ weather: { inputSchema: later } })).toThrow(/"weather".*promise/)
  expect(() => fromAiSdkTools({ weather: { inputSchema: 3 } })).toThrow(/"weather".*inputSchema/)
  expect(() =>
    fromAiSdkTools({ bash: { type: 'provider', id: 'anthropic.bash', execute: () => '' } }),
  ).toThrow(/"bash".*tool\(\)/)
  expect(() => fromAiSdkTools({}, { contxt: 1 } as never)).toThrow(/`contxt`.*`context`/)
})

function resultOf(client: ReturnType<typeof scriptedClient>) {
  const contents = client.requests[1]?.messages.at(-1)?.contents ?? []
  const result = contents.find((content) => content.type === 'function-result')
  if (result?.type !== 'function-result') return undefined
  const [part] = result.contents
  return { ...part, error: result.error }
}

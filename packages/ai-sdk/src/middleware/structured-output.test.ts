import { chatMiddleware } from '@lamella/core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { aiLines, mockModel, wrapped } from '../../fixtures/ai-lines.ts'
import { lamellaMiddleware } from '../index.ts'

const json = { content: [{ type: 'text', text: '{"city":"Rome"}' }] }
const passing = chatMiddleware('passing', async (_, callNext) => callNext())
const schema = z.object({ city: z.string() })

describe.each(aiLines)('$name', (line) => {
  const setUp = () => {
    const mock = mockModel(line.version, [json])
    const model = wrapped(line, mock, lamellaMiddleware([passing]))
    const output = line.ai.Output.object({ schema })
    return { mock, options: { model, prompt: 'Where?', output } }
  }

  test('an object is made of a plain answer', async () => {
    const { mock, options } = setUp()

    const { output } = await line.ai.generateText(options)

    expect(output).toEqual({ city: 'Rome' })
    expect(mock.calls[0]).toMatchObject({
      responseFormat: { type: 'json', schema: { required: ['city'] } },
    })
  })

  test('an object is made of a streamed answer', async () => {
    const { mock, options } = setUp()

    const output: unknown = await line.ai.streamText(options).output

    expect(output).toEqual({ city: 'Rome' })
    expect(mock.calls).toHaveLength(1)
  })

  test('the tools of a loop run, and their results come back', async () => {
    const mock = mockModel(line.version, [
      {
        content: [
          {
            type: 'tool-call',
            toolCallId: 'call 1',
            toolName: 'look_up',
            input: '{"city":"Rome"}',
          },
        ],
        finish: 'tool-calls',
      },
      { content: [{ type: 'text', text: 'Sunny.' }] },
    ])
    const model = wrapped(line, mock, lamellaMiddleware([passing]))
    const look_up = line.ai.tool({ inputSchema: schema, execute: ({ city }) => `sun in ${city}` })

    const result = line.ai.streamText({
      model,
      prompt: 'How is Rome?',
      tools: { look_up },
      stopWhen: line.ai.stepCountIs(3),
    })

    expect(await result.text).toBe('Sunny.')
    expect(JSON.stringify(mock.calls[1]?.['prompt'])).toContain('sun in Rome')
  })
})

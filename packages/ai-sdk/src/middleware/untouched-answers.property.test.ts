import { withProviderIds } from '../../../../tests/provider-harness/provider-ids.ts'
import { chatMiddleware } from '@lamella/core'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { MockStep } from '../../fixtures/ai-lines.ts'
import { aiLines, askModel, mockModel, wrapped } from '../../fixtures/ai-lines.ts'
import { aiSdk, lamellaMiddleware } from '../index.ts'
import { runs } from '../../../../tests/support/runs.ts'

const metadata = fc.option(
  fc.record({ mock: fc.record({ itemId: fc.string({ minLength: 1, maxLength: 4 }) }) }),
  { nil: undefined },
)
const words = fc.string({ minLength: 1, maxLength: 12 })
const said = (type: 'text' | 'reasoning') =>
  fc.tuple(words, metadata).map(([text, providerMetadata]) => ({
    type,
    text,
    ...(providerMetadata && { providerMetadata }),
  }))
const call = fc.tuple(fc.uuid(), fc.object({ maxDepth: 1 })).map(([toolCallId, input]) => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'look_up',
  input: JSON.stringify(input),
}))
const source = fc.uuid().map((id) => ({
  type: 'source',
  sourceType: 'url',
  id,
  url: 'https://example.com',
}))
/** Thoughts, then texts with their sources, then calls: as answers are. */
const answer = fc
  .tuple(
    fc.array(said('reasoning'), { maxLength: 2 }),
    fc.array(fc.tuple(said('text'), fc.array(source, { maxLength: 2 })), { maxLength: 3 }),
    fc.array(call, { maxLength: 3 }),
  )
  .map(([thoughts, texts, calls]) => [...thoughts, ...texts.flat(2), ...calls])

const passing = chatMiddleware('passing', async (_, callNext) => callNext())

describe.each(aiLines)('$name', (line) => {
  test('whatever a model answers, streamed is as plain, with a list and without', async () => {
    await fc.assert(
      fc.asyncProperty(answer, async (content) => {
        const step: MockStep = { content }
        const inputSchema = line.ai.jsonSchema({ type: 'object' })
        const offered: object = { tools: { look_up: line.ai.tool({ inputSchema }) } }
        const ask = async (mode: 'plain' | 'streamed') => {
          const model = wrapped(line, mockModel(line.version, [step]), lamellaMiddleware([passing]))
          const result = await askModel(line, mode, {
            model,
            prompt: 'Hi',
            maxRetries: 0,
            ...offered,
          })
          return [result.text, result.reasoningText, result.toolCalls, result.sources]
        }
        const client = () => aiSdk(mockModel(line.version, [step]).model)

        const plain = await client().getResponse('Hi')
        const streamed = await client().getResponse('Hi', { stream: true }).finalResponse()

        const contents = (response: typeof plain) =>
          withProviderIds(response).messages.map((each) => each.contents)
        expect(contents(streamed)).toEqual(contents(plain))
        expect(await ask('streamed')).toEqual(await ask('plain'))
      }),
      { numRuns: runs(60) },
    )
  })

  test('calls at the same time stay apart', async () => {
    const echo = chatMiddleware('echo', async (context, callNext) => {
      const asked = context.messages.at(-1)?.contents[0]
      await callNext()
      context.result = `${context.result?.text} ${asked?.type === 'text' ? asked.text : ''}`
    })
    const mock = mockModel(line.version, [{ content: [{ type: 'text', text: 'You said' }] }])
    const model = wrapped(line, mock, lamellaMiddleware([echo], { release: 'full' }))

    const texts = await Promise.all(
      ['one', 'two', 'three', 'four'].map(async (prompt, at) => {
        const mode = at % 2 === 0 ? 'plain' : 'streamed'
        return (await askModel(line, mode, { model, prompt })).text
      }),
    )

    expect(texts).toEqual(['one', 'two', 'three', 'four'].map((word) => `You said ${word}`))
  })
})

import { AnthropicChatClient } from '@lamella/anthropic'
import { Agent } from '@lamella/core'
import { GoogleChatClient } from '@lamella/google'
import { OpenAIChatClient } from '@lamella/openai'
import { calcPrice, extractUsage, findProvider } from '@pydantic/genai-prices'
import { expect, it } from 'vitest'
import { models } from './index.ts'
import { costBy } from './prices-at.ts'

const anthropicModels = ['claude-opus-4-6', 'claude-opus-4-1-20250805', 'claude-opus-5-5']
const openaiModels = ['gpt-4o', 'gpt-5.4', 'o3']
const googleModels = ['gemini-2.5-flash', 'gemini-2.5-pro']

/** Input, part read from a cache, part written to one, output. */
const counts = [
  [1_000, 0, 0, 50],
  [20_000, 15_000, 0, 800],
  [20_000, 0, 18_000, 1],
  [300_000, 100_000, 20_000, 4_000],
  [271_999, 0, 0, 10],
  [272_001, 0, 0, 10],
  [200_000, 0, 0, 10],
  [200_001, 1, 1, 10],
] as const

const calls = counts.flatMap(([input, read, written, output]) => [
  ...anthropicModels.map((model) => ({
    provider: 'anthropic',
    model,
    flavor: 'default',
    body: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text: 'Done.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: input - read - written,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written,
        cache_creation: {
          ephemeral_5m_input_tokens: written - Math.floor(written / 2),
          ephemeral_1h_input_tokens: Math.floor(written / 2),
        },
        output_tokens: output,
      },
    },
  })),
  ...openaiModels.map((model) => ({
    provider: 'openai',
    model,
    flavor: 'responses',
    body: {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model,
      output: [
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
        },
      ],
      usage: {
        input_tokens: input,
        input_tokens_details: { cached_tokens: read },
        output_tokens: output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: input + output,
      },
    },
  })),
  ...googleModels.map((model) => ({
    provider: 'google',
    model,
    flavor: 'default',
    body: {
      candidates: [
        { content: { role: 'model', parts: [{ text: 'Done.' }] }, finishReason: 'STOP', index: 0 },
      ],
      modelVersion: model,
      responseId: 'r1',
      usageMetadata: {
        promptTokenCount: input,
        cachedContentTokenCount: read,
        candidatesTokenCount: output,
        totalTokenCount: input + output,
      },
    },
  })),
])

it('64 answers of three providers cost what the calculator of the source takes for their JSON', async () => {
  const costs: unknown[] = []
  const expected: unknown[] = []
  for (const { provider, model, flavor, body } of calls) {
    const { usage } = await new Agent({ client: clientOf(provider, model, body) }).run('Go.')
    costs.push([model, round(models.cost(usage, { provider, model }))])
    const extracted = extractUsage(findProvider({ providerId: provider })!, body, flavor)
    const price = calcPrice(extracted.usage, model, { providerId: provider })
    expected.push([model, round(price?.total_price)])
  }

  expect(costs).toEqual(expected)
  expect(costs).toHaveLength(64)
})

it.each(calls.map(({ provider, model }) => `${provider}/${model}`).slice(0, 8))(
  'the prices of %s give the cost of the calculator, at each side of each tier',
  (name) => {
    const [provider, model = ''] = name.split('/')
    const prices = models.facts(provider, model)!.prices!

    const differences = counts.map(
      ([inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens]) => {
        const usage = { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens }
        return round(costBy(usage, prices) - models.cost(usage, { provider, model })!)
      },
    )

    expect(differences.map(Math.abs)).toEqual(counts.map(() => 0))
  },
)

it('a usage whose parts exceed their sum, or that is no usage, has a cost and no exception', () => {
  const model = { provider: 'anthropic', model: 'claude-sonnet-4-5' }

  expect(models.cost({ inputTokens: 10, cachedInputTokens: 20 }, model)).toBeGreaterThan(0)
  expect(models.cost({ inputTokens: Number.NaN, outputTokens: -5 }, model)).toBe(0)
})

function clientOf(provider: string, model: string, body: unknown) {
  const options = { apiKey: 'k', model, fetch: async () => Response.json(body) }
  if (provider === 'anthropic') return new AnthropicChatClient(options)
  return provider === 'openai' ? new OpenAIChatClient(options) : new GoogleChatClient(options)
}

/** Tenths of a millionth of a dollar: sums in another order differ in their last digits. */
function round(cost = Number.NaN): number {
  return Math.round(cost * 1e10) / 1e10
}

import { expect, test } from 'vitest'
import { modelFacts } from './index.ts'

/** Window, price of input and output of each model, and names that mean it as `provider name`. */
const known: readonly (readonly [number, number, number, readonly string[]])[] = [
  [
    200_000,
    3,
    15,
    names(
      'anthropic',
      'claude-sonnet-4-5 claude-sonnet-4-5-20250929 claude-sonnet-4.5 claude-sonnet-4-5-latest Claude-Sonnet-4-5 claude-sonnet-4-0 claude-sonnet-4-20250514 claude-sonnet-4 claude-4-sonnet-20250514 claude-3-7-sonnet-20250219 claude-3-7-sonnet-latest claude-3-5-sonnet-20241022 claude-3-5-sonnet-20240620 claude-3-5-sonnet-latest claude-3-5-sonnet',
    ),
  ],
  [
    200_000,
    1,
    5,
    names('anthropic', 'claude-haiku-4-5 claude-haiku-4-5-20251001 claude-haiku-4.5'),
  ],
  [200_000, 0.8, 4, names('anthropic', 'claude-3-5-haiku-20241022 claude-3-5-haiku-latest')],
  [200_000, 0.25, 1.25, names('anthropic', 'claude-3-haiku-20240307 claude-3-haiku')],
  [
    200_000,
    15,
    75,
    names(
      'anthropic',
      'claude-opus-4-1 claude-opus-4-1-20250805 claude-opus-4-0 claude-opus-4 claude-opus-4-20250514 claude-3-opus-20240229 claude-3-opus-latest',
    ),
  ],
  [200_000, 5, 25, names('anthropic', 'claude-opus-4-5 claude-opus-4-5-20251101 claude-opus-4.5')],
  [
    1_000_000,
    5,
    25,
    names('anthropic', 'claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-opus-5-20260801'),
  ],
  [1_000_000, 4, 20, names('anthropic', 'claude-opus-5-5 claude-opus-5-5-20261001')],
  [200_000, 3, 15, names('anthropic.messages', 'claude-sonnet-4-5 claude-sonnet-4-5-20250929')],
  [
    200_000,
    3,
    15,
    names(
      'gateway',
      'anthropic/claude-sonnet-4-5 anthropic/claude-sonnet-4.5 anthropic/claude-sonnet-4-5-20250929',
    ),
  ],
  [
    200_000,
    3,
    15,
    names('openai-compatible', 'anthropic/claude-sonnet-4-5 anthropic/claude-3-5-sonnet-20241022'),
  ],
  [
    200_000,
    3.3,
    16.5,
    names(
      'aws',
      'us.anthropic.claude-sonnet-4-5-20250929-v1:0 eu.anthropic.claude-sonnet-4-5-20250929-v1:0 anthropic.claude-sonnet-4-5-20250929-v1:0',
    ),
  ],
  [
    200_000,
    3.3,
    16.5,
    names(
      'amazon-bedrock',
      'arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    ),
  ],
  [
    200_000,
    3,
    15,
    names(
      'amazon-bedrock',
      'global.anthropic.claude-sonnet-4-5-20250929-v1:0 global.anthropic.claude-sonnet-4-20250514-v1:0 anthropic.claude-3-5-sonnet-20241022-v2:0 us.anthropic.claude-3-7-sonnet-20250219-v1:0 anthropic.claude-3-sonnet-20240229-v1:0',
    ),
  ],
  [200_000, 5, 25, names('bedrock', 'global.anthropic.claude-opus-4-5-20251101-v1:0')],
  [
    200_000,
    0.25,
    1.25,
    names(
      'bedrock',
      'anthropic.claude-3-haiku-20240307-v1:0 eu.anthropic.claude-3-haiku-20240307-v1:0',
    ),
  ],
  [
    200_000,
    3,
    15,
    names(
      'vertex',
      'claude-sonnet-4-5@20250929 claude-3-5-sonnet@20240620 claude-sonnet-4@20250514 publishers/anthropic/models/claude-sonnet-4-5@20250929 projects/p/locations/eu/publishers/anthropic/models/claude-sonnet-4-5@20250929',
    ),
  ],
  [128_000, 2.5, 10, names('openai', 'gpt-4o gpt-4o-2024-08-06 gpt-4o-2024-11-20 GPT-4o')],
  [128_000, 2.5, 10, names('azure-openai', 'gpt-4o gpt-4o-2024-08-06 gpt-4o-2024-11-20')],
  [128_000, 2.5, 10, names('azure', 'gpt-4o gpt-4o-2024-11-20')],
  [128_000, 2.5, 10, names('openai.responses', 'gpt-4o gpt-4o-2024-11-20')],
  [128_000, 2.5, 10, names('litellm', 'openai/gpt-4o openai/gpt-4o-2024-08-06 azure/gpt-4o')],
  [128_000, 5, 15, names('openai', 'gpt-4o-2024-05-13 chatgpt-4o-latest')],
  [128_000, 0.15, 0.6, names('openai', 'gpt-4o-mini gpt-4o-mini-2024-07-18')],
  [128_000, 0.15, 0.6, names('azure-openai', 'gpt-4o-mini gpt-4o-mini-2024-07-18')],
  [1_000_000, 2, 8, names('openai', 'gpt-4.1 gpt-4.1-2025-04-14')],
  [1_000_000, 0.4, 1.6, names('openai', 'gpt-4.1-mini gpt-4.1-mini-2025-04-14')],
  [1_000_000, 0.1, 0.4, names('openai', 'gpt-4.1-nano')],
  [
    400_000,
    1.25,
    10,
    names('openai', 'gpt-5 gpt-5-2025-08-07 gpt-5.1 gpt-5.1-2025-11-13 gpt-5-codex'),
  ],
  [1_000_000, 2, 8, names('azure-openai', 'gpt-4.1 gpt-4.1-2025-04-14')],
  [400_000, 1.25, 10, names('azure-openai', 'gpt-5 gpt-5-2025-08-07 gpt-5.1')],
  [400_000, 0.25, 2, names('openai', 'gpt-5-mini gpt-5-mini-2025-08-07')],
  [400_000, 0.05, 0.4, names('openai', 'gpt-5-nano gpt-5-nano-2025-08-07')],
  [400_000, 1.75, 14, names('openai', 'gpt-5.2 gpt-5.2-2025-12-11')],
  [200_000, 1.1, 4.4, names('openai', 'o3-mini o3-mini-2025-01-31 o4-mini o4-mini-2025-04-16')],
  [200_000, 2, 8, names('openai', 'o3 o3-2025-04-16')],
  [200_000, 15, 60, names('openai', 'o1 o1-2024-12-17')],
  [16_385, 0.5, 1.5, names('openai', 'gpt-3.5-turbo gpt-3.5-turbo-0125')],
  [8_192, 30, 60, names('openai', 'gpt-4 gpt-4-0613')],
  [1_048_576, 0.3, 2.5, names('google', 'gemini-2.5-flash models/gemini-2.5-flash')],
  [1_048_576, 0.3, 2.5, names('google.generative-ai', 'gemini-2.5-flash')],
  [
    1_048_576,
    0.3,
    2.5,
    names('google-vertex', 'gemini-2.5-flash publishers/google/models/gemini-2.5-flash'),
  ],
  [1_048_576, 1.25, 10, names('google', 'gemini-2.5-pro models/gemini-2.5-pro')],
  [131_072, 3, 15, names('xai', 'grok-3')],
  [131_072, 3, 15, names('x-ai', 'grok-3')],
  [131_072, 0.3, 0.5, names('xai.chat', 'grok-3-mini')],
]

/** Names that are no model of the data, or that could be more than one. */
const unknown: readonly string[] = [
  ...names(
    'anthropic',
    'claude-opus-4-15 claude-opus-4-55 claude-opus-4-5-turbo claude-opus-4-99 claude-sonnet-4-51 claude-sonnet-4-5-mini claude-haiku-4-5-fast claude-sonnet-50 claude-3-5-haiku-preview claude claude- claude-opus opus anthropic/ my-claude-opus-4-5 claude-opus-4-5/x claude-haiku-4-50 claude-fable-55 claude-opus-5-52 claude-opus-4-',
  ),
  ...names(
    'openai',
    'gpt-4o-2099-01-01 gpt-4o-large gpt-4.1-pico gpt-4.10 gpt-5.11 gpt-5-nano-custom gpt-5-nanotube gpt-55 gpt-4oo o30 o3-max o11 gpt gpt- gpt-4- my-gpt-4o gpt-4o-mini-large gpt-6-astra-turbo toString __proto__ constructor text-moderation-own',
  ),
  ...names(
    'azure-openai',
    'chat-prod my-deployment gpt-4o-prod prod-gpt-4o team-a-gpt-5 o4-mini-team-b gpt4 default',
  ),
  ...names(
    'aws',
    'us.anthropic.claude-sonnet-4-5-turbo-v1:0 anthropic.claude-opus-4-55-v1:0 my-profile arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc123 us.anthropic.claude-3-haiku-20240307-fast',
  ),
  ...names(
    'google',
    'gemini gemini-99-pro gemini-2.5-flash-own gemini-2.5-proper tunedModels/mine projects/p/locations/eu/endpoints/12345',
  ),
  ...names('my-anthropic-proxy', 'claude-sonnet-4-5 claude-opus-4-5'),
  ...names('my-openai', 'gpt-4o'),
  ...names('vllm', 'gpt-4o llama'),
  ...names('toString', 'gpt-4o'),
  ...names('__proto__', 'gpt-4o'),
  ...names(
    'gateway',
    'nobody/gpt-4o nobody/claude-sonnet-4-5 anthropic/gpt-4o openai/claude-sonnet-4-5 /gpt-4o gpt-4o/',
  ),
  ...names('openrouter', 'gpt-4o nobody/claude-sonnet-4.5'),
]

test('200 names of providers, clouds, gateways and dates mean their model or none, never another', () => {
  const wrong: unknown[] = []
  let count = 0
  for (const [contextTokens, input, output, meant] of known) {
    for (const name of meant) {
      count++
      const { contextTokens: window, prices } = factsOf(name) ?? {}
      const isRight =
        window === contextTokens && prices?.input === input && prices.output === output
      if (!isRight) wrong.push([name, window, prices?.input, prices?.output])
    }
  }
  for (const name of unknown) {
    count++
    const facts = factsOf(name)
    if (facts !== undefined) wrong.push([name, facts.contextTokens, facts.prices?.input])
  }

  expect(wrong).toEqual([])
  expect(count).toBeGreaterThanOrEqual(200)
})

function names(provider: string, models: string): readonly string[] {
  return models.split(' ').map((model) => `${provider} ${model}`)
}

function factsOf(name: string) {
  const [provider, model = ''] = name.split(' ')
  return modelFacts(provider, model)
}

import { describe, expect, it } from 'vitest'
import { modelFacts, models } from './index.ts'

describe('models', () => {
  it('know the window, limits, prices, inputs and abilities of a model', () => {
    const facts = modelFacts('anthropic', 'claude-opus-4-1-20250805')

    expect(facts).toEqual({
      contextTokens: 200_000,
      outputTokens: 32_000,
      prices: { input: 15, output: 75, cachedInput: 1.5, cacheWrite: 18.75, cacheWrite1h: 30 },
      inputs: ['text', 'image'],
      abilities: ['tools', 'reasoning'],
    })
  })

  it('know the prices of a time', () => {
    const before = models.facts('openai', 'o3', new Date('2025-05-01'))
    const after = models.facts('openai', 'o3', new Date('2025-08-01'))

    expect([before?.prices?.input, after?.prices?.input]).toEqual([10, 2])
  })

  it('know a model without its provider, if the name belongs to one', () => {
    expect(modelFacts(undefined, 'gpt-4o')).toEqual(modelFacts('openai', 'gpt-4o'))
    expect(modelFacts(undefined, 'openai/gpt-4o')).toEqual(modelFacts('openai', 'gpt-4o'))
  })

  it('take in own models, deployments and negotiated prices, which go first', () => {
    const negotiated = { contextTokens: 200_000, prices: { input: 1, output: 2, cachedInput: 0.1 } }
    const ours = models.extend({
      'azure-openai/chat-prod': 'azure/gpt-4.1',
      'anthropic/claude-sonnet-4-5': negotiated,
      local: { contextTokens: 32_000 },
    })
    const usage = { inputTokens: 1_000_000, cachedInputTokens: 500_000, outputTokens: 100_000 }

    expect(ours.facts('azure-openai', 'chat-prod')).toEqual(modelFacts('azure', 'gpt-4.1'))
    expect(ours.facts('vllm', 'local')).toEqual({ contextTokens: 32_000 })
    expect(ours.cost(usage, { provider: 'vllm', model: 'local' })).toBeUndefined()
    expect(ours.cost(usage, { provider: 'anthropic', model: 'claude-sonnet-4-5' })).toBeCloseTo(
      0.75,
    )
    expect(ours.facts('openai', 'gpt-4o')).toEqual(modelFacts('openai', 'gpt-4o'))
    expect(modelFacts('azure-openai', 'chat-prod')).toBeUndefined()
  })

  it.each([
    [5, 'own'],
    [{ mine: 'nobody/knows' }, 'mine'],
    [{ mine: 5 }, 'mine'],
    [{ mine: { contextTokens: 0 } }, 'mine.contextTokens'],
    [{ mine: { outputTokens: 1.5 } }, 'mine.outputTokens'],
    [{ mine: { prices: { input: 1 } } }, 'mine.prices.output'],
    [{ mine: { prices: { input: -1, output: 1 } } }, 'mine.prices.input'],
  ])('refuse own models that are none: %j', (own, place) => {
    expect(() => models.extend(own as never)).toThrow(`models.extend: \`${place}\``)
  })
})

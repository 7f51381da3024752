// Windows and prices of models by name, and a budget that takes its prices from there.
import { Agent } from '@lamella/core'
import { budget } from '@lamella/middleware-budget'
import { modelFacts, models } from '@lamella/models'
import { scriptedClient } from '@lamella/testing'

console.log(modelFacts('anthropic', 'claude-opus-4-1-20250805')?.contextTokens) // 200000
console.log(modelFacts('anthropic', 'claude-opus-4-15')) // undefined

const usage = { inputTokens: 20_000, cachedInputTokens: 15_000, outputTokens: 800 }
console.log(models.cost(usage, { provider: 'openai', model: 'gpt-4o' })) // 0.03925

const ours = models.extend({ 'scripted/assistant': 'openai/gpt-4o' })
const agent = new Agent({
  client: scriptedClient(['Done.'], { model: 'assistant' }),
  middleware: budget({ limits: { costUsd: 0.5 }, prices: ours }),
})
const response = await agent.run('Go.')
console.log(response.status) // completed

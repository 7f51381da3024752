// promptCacheDoctor() names the middleware that loses the provider's prompt cache, and what that costs.
import assert from 'node:assert/strict'
import { Agent, chatMiddleware } from '@lamella/core'
import { promptCacheDoctor } from '@lamella/middleware-cache'
import { historyTruncator } from '@lamella/middleware-truncate'
import { models } from '@lamella/models'
import { scriptedClient } from '@lamella/testing'

const client = scriptedClient(
  () => ({
    messages: [{ role: 'assistant', contents: 'Yes.' }],
    usage: { inputTokens: 20_000, cachedInputTokens: 15_000, outputTokens: 10 },
  }),
  { provider: 'openai', model: 'gpt-4o' },
)

let minute = 0
const clock = chatMiddleware('clock', async (context, callNext) => {
  context.instructions = `${context.instructions} It is minute ${minute++}.`
  await callNext()
})

const losses: string[] = []
const agent = new Agent({
  client,
  instructions: 'Be brief.',
  middleware: promptCacheDoctor([historyTruncator(), clock], {
    prices: models,
    onEvent: ({ middleware, changed, lostTokens, costUsd }) =>
      losses.push(
        `${middleware} changed ${changed}: ${lostTokens} tokens, $${costUsd?.toFixed(5)}`,
      ),
  }),
})

const session = agent.createSession()
await agent.run('Hello', { session })
await agent.run('Are you there?', { session })

console.log(losses)
assert.deepEqual(losses, ['clock changed instructions: 5000 tokens, $0.00625'])

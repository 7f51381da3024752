// A run ends when its budget is used up. A sub-agent spends the budget of its caller.
import assert from 'node:assert/strict'
import { Agent, agentTool, jsonSchema, tool } from '@lamella/core'
import { budget } from '@lamella/middleware-budget'
import { callFunction, scriptedClient } from '@lamella/testing'

const warnings: string[] = []
const shared = budget({
  limits: { costUsd: 0.05, modelCalls: 20 },
  prices: { 'stand-in': { input: 100, output: 1000 } }, // US dollars for a million tokens
  onEvent: (event) => event.status === 'warning' && warnings.push(event.counter),
  message: ({ counter, limit }) => `I have used up my ${counter} of ${limit}.`,
})

const search = tool({
  name: 'search',
  description: 'Searches the web.',
  parameters: jsonSchema({ type: 'object', properties: { words: { type: 'string' } } }),
  execute: () => 'Nothing found.',
})
// These two agents never end by themselves. Each model call costs 0.6 US cents.
const model = 'stand-in'
const restless = scriptedClient(({ index }) => callFunction('search', { words: `try ${index}` }), {
  model,
})
const asking = scriptedClient(({ index }) => callFunction('researcher', { task: `try ${index}` }), {
  model,
})
const researcher = new Agent({
  name: 'researcher',
  client: restless,
  tools: [search],
  middleware: shared,
})
const agent = new Agent({
  client: asking,
  tools: [agentTool(researcher)],
  middleware: shared,
})

const response = await agent.run('Where is it?')

console.log(response.status, '-', response.text, '-', warnings)
assert.equal(response.status, 'budget_exhausted')
assert.equal(response.reason, 'costUsd')
assert.equal(response.text, 'I have used up my costUsd of 0.05.')
assert.deepEqual(warnings, ['costUsd'])
assert.ok(restless.requests.length + asking.requests.length <= 8)

// Without options, it still ends a run that repeats the same call.
const stuck = scriptedClient(() => callFunction('search', { words: 'the same' }))
const stopped = await new Agent({ client: stuck, tools: [search], middleware: budget() }).run('Go')
console.log(stopped.status, '-', stopped.reason)
assert.equal(stopped.reason, 'repeatedToolCalls')

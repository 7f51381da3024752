// A middleware ends a run on purpose by throwing a MiddlewareTermination. That is an outcome, not a failure:
// the run resolves, with the middleware's result as its response. Outer "after" code is skipped, `finally` runs.
import assert from 'node:assert/strict'
import {
  Agent,
  MiddlewareTermination,
  agentMiddleware,
  functionMiddleware,
  jsonSchema,
  tool,
} from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'

const closed = agentMiddleware('closed', async (context, callNext) => {
  const isNight = context.messages.some(({ metadata }) => metadata?.['hour'] === 3)
  if (isNight) throw new MiddlewareTermination('closed at night', { result: 'We open at nine.' })
  await callNext()
})

const watch: string[] = []
const outer = agentMiddleware('outer', async (_context, callNext) => {
  try {
    await callNext()
    watch.push('after')
  } finally {
    watch.push('finally')
  }
})

// At function level, it ends the loop: the model is not called again.
const enough = functionMiddleware('enough', async (_context, callNext) => {
  await callNext()
  throw new MiddlewareTermination('the search is all we need')
})

const client = scriptedClient([callFunction('search', { query: 'Rome' })])
const search = tool({
  name: 'search',
  description: 'Searches.',
  parameters: jsonSchema({ type: 'object', properties: { query: { type: 'string' } } }),
  execute: ({ query }) => `3 hits for ${String(query)}`,
})
const agent = new Agent({ client, tools: [search], middleware: [outer, closed, enough] })

const night = await agent.run({ role: 'user', contents: 'Hello?', metadata: { hour: 3 } })
console.log(`${night.status}: ${night.text} (${night.reason})`)
assert.equal(night.status, 'terminated')
assert.equal(night.text, 'We open at nine.')
assert.deepEqual(watch, ['finally'])
assert.equal(client.requests.length, 0)

const day = await agent.run('Search for Rome.')
console.log(`${day.status}: ${day.messages.map(({ role }) => role).join(', ')} (${day.reason})`)
assert.equal(day.status, 'terminated')
assert.deepEqual(
  day.messages.map(({ role }) => role),
  ['assistant', 'tool'],
)
assert.equal(client.requests.length, 1)

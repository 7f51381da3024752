// A tool policy: lists, rules for arguments, and approvals that expire and are used once. The model reads a
// denial as a result; a call that needs a person pauses the run, and a changed checkpoint runs nothing.
import assert from 'node:assert/strict'
import type { Checkpoint } from '@lamella/core'
import { Agent, memoryStore, tool } from '@lamella/core'
import { ask, range, sql, toolPolicy } from '@lamella/guardrail-tools'
import { callFunction, scriptedClient } from '@lamella/testing'
import { parse } from 'libpg-query'
import { z } from 'zod'

const done: string[] = []
const query = tool({
  name: 'query',
  description: 'Asks the database.',
  parameters: z.object({ statement: z.string() }),
  execute: ({ statement }) => `rows of ${done[done.push(statement) - 1]}`,
})
const refund = tool({
  name: 'refund',
  description: 'Pays back.',
  parameters: z.object({ order: z.number(), euros: z.number() }),
  execute: ({ order, euros }) => `refunded ${done[done.push(`${euros} for ${order}`) - 1]}`,
})
const policy = toolPolicy({
  allow: ['query', 'refund'],
  rules: {
    query: { statement: sql({ dialect: 'postgresql', parse, tables: ['orders'] }) },
    refund: { euros: [range({ min: 0, max: 1000 }), ask(range({ max: 20 }))] },
  },
  approval: { ttlMs: 3_600_000 },
})
const client = scriptedClient([
  callFunction('query', { statement: 'select 1; drop table orders' }),
  callFunction('query', { statement: 'select * from orders' }),
  callFunction('refund', { order: 7, euros: 80 }),
  'I refunded it.',
])
// In an application: a store that all processes share, and a key from its settings.
const agent = new Agent({
  client,
  tools: [query, refund],
  middleware: policy,
  store: memoryStore(),
  sign: 'a secret of this example',
})

const paused = await agent.run('Refund order 7.')
const [request] = paused.pending
assert.ok(request?.kind === 'approval' && paused.checkpoint)
console.log(`${paused.status}: ${request.request.call.arguments}: ${request.request.reason}`)
assert.deepEqual(done, ['select * from orders'])

const kept = JSON.stringify(paused.checkpoint)
const changed = JSON.parse(kept.replaceAll(':80}', ':800}')) as Checkpoint
await assert.rejects(agent.resume(changed, { [request.id]: true }), { code: 'checkpoint_invalid' })
assert.equal(done.length, 1)

console.log((await agent.resume(JSON.parse(kept) as Checkpoint, { [request.id]: true })).text)
assert.deepEqual(done.slice(1), ['80 for 7'])

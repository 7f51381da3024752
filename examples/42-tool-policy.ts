// A tool policy: lists, rules for arguments, and approvals that are signed and used once. What is denied the
// model reads as a result; what needs a person pauses the run, and no changed checkpoint runs anything else.
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
  approval: { sign: [{ id: 'k1', key: 'a secret of this example' }] },
})
const client = scriptedClient([
  callFunction('query', { statement: 'select 1; drop table orders' }),
  callFunction('query', { statement: 'select * from orders' }),
  callFunction('refund', { order: 7, euros: 80 }),
  'I could not refund it.',
  'I refunded it.',
])
const agent = new Agent({ client, tools: [query, refund], middleware: policy })

const paused = await agent.run('Refund order 7.')
const [request] = paused.pending
assert.ok(request?.kind === 'approval' && paused.checkpoint)
console.log(`${paused.status}: ${request.request.call.arguments}: ${request.request.reason}`)
assert.deepEqual(done, ['select * from orders'])

const kept = JSON.stringify(paused.checkpoint)
const changed = JSON.parse(kept.replaceAll(':80}', ':800}')) as Checkpoint
// Another process, with which this one shares no store.
const elsewhere = new Agent({
  client,
  tools: [query, refund],
  middleware: policy,
  store: memoryStore(),
})
console.log((await elsewhere.resume(changed, { [request.id]: true })).text)
assert.equal(done.length, 1)

console.log((await agent.resume(JSON.parse(kept) as Checkpoint, { [request.id]: true })).text)
assert.deepEqual(done.slice(1), ['80 for 7'])

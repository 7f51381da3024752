// A tool that needs approval pauses the run. The checkpoint is JSON: save it, ask a person, and resume days
// later in another process. Finished steps are not repeated.
import assert from 'node:assert/strict'
import type { Checkpoint } from '@lamella/core'
import { Agent, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { z } from 'zod'

const done: string[] = []
const lookUp = tool({
  name: 'look_up',
  description: 'Looks up an order.',
  parameters: z.object({ order: z.number() }),
  execute: ({ order }) => {
    done.push(`looked up ${order}`)
    return { order, paid: 80 }
  },
})
const refund = tool({
  name: 'refund',
  description: 'Pays money back.',
  parameters: z.object({ order: z.number(), amount: z.number().max(80) }),
  approval: ({ arguments: { amount } }) => Number(amount) > 20,
  execute: ({ order, amount }) => {
    done.push(`refunded ${amount} for ${order}`)
    return 'refunded'
  },
})
const client = scriptedClient([
  [callFunction('look_up', { order: 7 }), callFunction('refund', { order: 7, amount: 80 })],
  'I refunded 50.',
])
const agent = new Agent({ client, tools: [lookUp, refund] })

const paused = await agent.run('Refund order 7.')
const [request] = paused.pending
assert.equal(paused.status, 'paused')
assert.ok(request?.kind === 'approval' && paused.checkpoint !== undefined)
console.log(`paused: may I call ${request.request.call.name} ${request.request.call.arguments}?`)
assert.deepEqual(done, ['looked up 7'])

const kept = JSON.stringify(paused.checkpoint)
console.log(`kept ${kept.length} characters`)

// The person allows less than the model asked for. Edited arguments are validated like any others.
const answers = { [request.id]: { approved: true, arguments: { order: 7, amount: 50 } } }
const resumed = await agent.resume(JSON.parse(kept) as Checkpoint, answers)
console.log(`${resumed.status}: ${resumed.text}`, done)
assert.deepEqual(done, ['looked up 7', 'refunded 50 for 7'])

// An answer is accepted once.
await assert.rejects(agent.resume(JSON.parse(kept) as Checkpoint, answers), {
  code: 'approval_used',
})
assert.equal(done.length, 2)

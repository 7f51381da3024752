// Cases, checks and scores, and a baseline that tells a change from noise.
import { Agent, jsonSchema, tool } from '@lamella/core'
import type { RunRecord } from '@lamella/evals'
import { calledTool, evaluate, includes, noToolErrors, similarity } from '@lamella/evals'
import { callFunction, scriptedClient } from '@lamella/testing'

const look = tool({
  name: 'look_up_order',
  description: 'Looks up an order by its number.',
  parameters: jsonSchema({
    type: 'object',
    properties: { id: { type: 'string' } },
    required: ['id'],
  }),
  execute: ({ id }) => `order ${String(id)} was sent on Monday`,
})

// A stand-in for a model. The careless one often forgets the day.
function supportAgent(instructions: string, forgets: (order: string) => boolean): Agent {
  const client = scriptedClient(({ messages }) => {
    const last = messages.at(-1)!
    const [order = ''] = /\d+/.exec(JSON.stringify(last.contents)) ?? []
    if (last.role !== 'tool') return [callFunction('look_up_order', { id: order })]
    return forgets(order) ? 'It was sent.' : `Order ${order} was sent on Monday.`
  })
  return new Agent({ name: 'support', client, instructions, tools: [look] })
}

const cases = Array.from({ length: 20 }, (_, at) => ({
  id: `order-${at}`,
  input: `Where is my order ${at + 100}?`,
  expected: `Order ${at + 100} was sent on Monday.`,
}))
const checks = [calledTool('look_up_order'), noToolErrors(), includes('sent')]
const scores = [similarity({ threshold: 0.6 })]

const baseline: RunRecord[] = []
const before = await evaluate({
  agent: supportAgent('Answer with the day.', (order) => order.endsWith('7')),
  cases,
  checks,
  scores,
  onRun: (record) => void baseline.push(record),
})
console.log(before.verdict) // passed

const after = await evaluate({
  agent: supportAgent('Be brief.', (order) => Number(order) % 3 > 0),
  cases,
  checks,
  scores,
  baseline,
})
console.log(after.verdict) // worse
for (const reason of after.reasons) console.log(reason)

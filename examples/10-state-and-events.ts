// Middleware stores no data of a run itself. It uses the run's state: typed cells, one value per run,
// shared by all middleware and tools. Events go to the caller, inside the stream or to `onEvent`.
import assert from 'node:assert/strict'
import { Agent, defineState, functionMiddleware, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { z } from 'zod'

const spending = defineState({ name: 'spending', initial: () => 0, schema: z.number() })

const budget = functionMiddleware('budget', async (context, callNext) => {
  const price = Number(context.arguments['price'] ?? 0)
  const { state } = context.run
  if (state.get(spending) + price > 100) {
    context.result = 'Too expensive: nothing was bought.'
    return
  }
  await callNext()
  const total = state.update(spending, (sum) => sum + price)
  context.run.emit({ type: 'spent', data: { price, total } })
})

const bought: string[] = []
const buy = tool({
  name: 'buy',
  description: 'Buys something.',
  parameters: z.object({ item: z.string(), price: z.number() }),
  exclusive: true,
  execute: ({ item }) => `${bought.push(item)} things bought`,
})
const calls = Object.entries({ 'a lamp': 60, 'a chair': 55, 'a vase': 40 }).map(([item, price]) =>
  callFunction('buy', { item, price }),
)
const client = scriptedClient([calls, 'Done.', calls, 'Done.'])
const agent = new Agent({ client, tools: [buy], middleware: [budget] })

const events: unknown[] = []
for await (const { event } of agent.run('Furnish my room.', { stream: true })) {
  if (event !== undefined) events.push(event.data)
}
console.log(bought, events)
assert.deepEqual(bought, ['a lamp', 'a vase'])
assert.deepEqual(events, [
  { price: 60, total: 60 },
  { price: 40, total: 100 },
])

// The next run begins with a new cell.
const types: string[] = []
await agent.run('Furnish the other room.', { onEvent: ({ type }) => types.push(type) })
console.log(types)
assert.deepEqual(types, ['spent', 'spent'])

// A tool result that is too long is shortened to valid JSON. The whole result is stored, and the model can
// read the rest with an additional tool.
import assert from 'node:assert/strict'
import { Agent, memoryStore, tool } from '@lamella/core'
import { contentTruncator } from '@lamella/middleware-truncate'
import { callFunction, scriptedClient } from '@lamella/testing'

const orders = Array.from({ length: 400 }, (_, id) => ({ id, customer: `customer ${id}` }))
const listOrders = tool({ name: 'list_orders', description: 'All orders.', execute: () => orders })

const client = scriptedClient([
  callFunction('list_orders', {}, 'call_1'),
  ({ messages }) => {
    const [, id] = /the id \\"(\S+)\\"/.exec(JSON.stringify(messages)) ?? []
    return callFunction('read_more', { id, offset: 14_000 }, 'call_2')
  },
  'The last order is that of customer 399.',
])
const agent = new Agent({
  client,
  tools: [listOrders],
  middleware: contentTruncator({
    maxChars: 1000,
    strategy: 'json-aware',
    spill: { store: memoryStore() },
    onEvent: ({ charsBefore, charsAfter, spill }) =>
      console.log({ charsBefore, charsAfter, spill }),
  }),
})

const response = await agent.run('Whose is the last order?')

const [first, second] = response.messages.flatMap(({ contents }) =>
  contents.flatMap((content) => (content.type === 'function-result' ? [content.contents] : [])),
)
const [shortened] = first ?? []
assert.ok(shortened?.type === 'text' && shortened.text.length <= 1000)
const left = JSON.parse(shortened.text) as unknown[]
console.log(left.slice(0, 1), left.at(-1))
assert.match(String(left.at(-1)), /more\)$/)
assert.match(JSON.stringify(second), /customer 399/)
console.log(response.text)

// Hooks around the tool calls of one response: look at the whole batch before it starts, make tools wait for a
// check that takes time, answer for a tool that does not exist, and do something only if the turn succeeded.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, jsonSchema, tool } from '@lamella/core'
import { lifecycle } from '@lamella/lifecycle'
import { callFunction, scriptedClient } from '@lamella/testing'

const log: string[] = []
const hooks = lifecycle({
  name: 'log',
  beforeTurn({ run }) {
    const check = sleep(20).then(() => void log.push('the account is in order'))
    run.holdTools(check) // the model already works; only its tools wait
  },
  beforeParallelBatch: ({ calls }) => void log.push(`${calls.length} calls at once`),
  afterTurnSucceeded: ({ result }) => void log.push(`answered: ${result?.text}`),
})
const price = tool({
  name: 'price_of',
  description: 'The price of a product.',
  parameters: jsonSchema({ type: 'object', properties: { product: { type: 'string' } } }),
  execute: ({ product }) => {
    log.push(`price of ${String(product)}`)
    return 12
  },
})
const agent = new Agent({
  client: scriptedClient([
    [
      callFunction('price_of', { product: 'tea' }, 'a'),
      callFunction('price_of', { product: 'milk' }, 'b'),
      callFunction('stock_of', { product: 'milk' }, 'c'),
    ],
    'Tea and milk are 24.',
  ]),
  tools: [price],
  middleware: hooks,
  functionInvocation: {
    onUnknownTool: ({ name }) => `There is no ${name}; only prices are known.`,
  },
})

const response = await agent.run('What do tea and milk cost?')
console.log(log.join('\n'))

assert.equal(response.status, 'completed')
assert.deepEqual(log.toSorted(), [
  '3 calls at once',
  'answered: Tea and milk are 24.',
  'price of milk',
  'price of tea',
  'the account is in order',
])
assert.ok(log.indexOf('the account is in order') < log.indexOf('price of tea'))
assert.match(JSON.stringify(response.messages), /only prices are known/)

// A run continues after a crash: the steps that an engine has stored are not done again. The engine is a map here;
// `@lamella/durable/dbos` and `@lamella/durable/restate` are real ones.
import assert from 'node:assert/strict'
import { Agent, tool } from '@lamella/core'
import { runDurably } from '@lamella/durable'
import { callFunction, scriptedClient } from '@lamella/testing'

const stored = new Map<string, unknown>()
let crashAfter = 3

async function step<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
  if (!stored.has(name)) {
    stored.set(name, await work())
    if (stored.size === crashAfter) throw new Error('the process is gone')
  }
  return stored.get(name) as Value
}

const keys: unknown[] = []
const pay = tool({
  name: 'pay',
  description: 'Pays an invoice.',
  execute(_, { metadata }) {
    keys.push(metadata['idempotencyKey'])
    return 'paid'
  },
})
const client = scriptedClient([callFunction('pay'), 'I have paid it.'])
const agent = new Agent({ client, tools: [pay] })
const engine = { id: 'invoice-17', step }

await assert.rejects(runDurably(agent, 'Pay invoice 17.', engine), /gone/)
console.log([...stored.keys()]) // [ 'begin', 'model 0', 'tool pay call_1' ]

crashAfter = Infinity
const response = await runDurably(agent, 'Pay invoice 17.', engine)
console.log(response.text, response.usage.totalTokens) // I have paid it. 30

assert.equal(response.text, 'I have paid it.')
assert.deepEqual(keys, ['invoice-17/pay call_1'])
assert.equal(client.requests.length, 2)

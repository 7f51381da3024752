// explain() lists the middleware of a run, outermost first, without calling anything. The middleware of a
// client are outside those of an agent, and those of an agent outside those of a run.
import assert from 'node:assert/strict'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  explain,
  functionMiddleware,
  tool,
} from '@lamella/core'
import { scriptedClient } from '@lamella/testing'

const pass = async (_context: unknown, callNext: () => Promise<unknown>): Promise<void> => {
  await callNext()
}

const search = tool({ name: 'search', description: 'Searches.', execute: () => '3 hits' })
const client = scriptedClient([], {
  model: 'some-model',
  middleware: [chatMiddleware('rate-limit', pass)],
})
const agent = new Agent({
  name: 'helper',
  client,
  tools: [search],
  // Lists may nest: a feature with parts at several levels is a list.
  middleware: [
    agentMiddleware('audit', pass),
    [agentMiddleware('guardrail', pass), functionMiddleware('guardrail', pass)],
    chatMiddleware('retry', pass),
  ],
})

const explanation = explain(agent, 'What is new?', { middleware: [chatMiddleware('debug', pass)] })
console.log(String(explanation))

assert.deepEqual(explanation.agent, ['audit', 'guardrail'])
assert.deepEqual(explanation.chat, ['rate-limit', 'retry', 'debug'])
assert.deepEqual(explanation.function, ['guardrail'])
assert.deepEqual(explanation.tools, ['search'])
assert.equal(explanation.model, 'some-model')
assert.equal(client.requests.length, 0)

// Anything else in a list throws when the agent is created; it is never silently skipped.
// @ts-expect-error: a bare function has no level
assert.throws(() => new Agent({ client, middleware: [async () => {}] }), /agentMiddleware/)

// timeout() really cancels a call: the provider's request or the tool is aborted. An outer retry() repeats
// a model call that does not start in time; the model reads a slow tool as an error.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, jsonSchema, tool } from '@lamella/core'
import { retry, timeout } from '@lamella/middleware-retry'
import { callFunction, scriptedClient } from '@lamella/testing'

const client = scriptedClient([
  { updates: [], hang: true },
  callFunction('slow_search', { query: 'Rome' }),
  'I could not search in time.',
])

let aborted = false
const search = tool({
  name: 'slow_search',
  description: 'Searches, slowly.',
  parameters: jsonSchema({ type: 'object', properties: { query: { type: 'string' } } }),
  execute: async (_, { signal }) => {
    await delay(60_000, undefined, { signal }).catch(() => (aborted = true))
    return 'too late'
  },
})

const agent = new Agent({
  client,
  tools: [search],
  middleware: [
    retry({ initialDelayMs: 10 }),
    timeout({ firstUpdateMs: 50, idleMs: 50, tools: { slow_search: 50 }, totalMs: 5000 }),
  ],
})

const stream = agent.run('What is in Rome?', { stream: true })
for await (const { event } of stream) if (event) console.log(event.type, event.data)
const response = await stream.finalResponse()

console.log(response.text)
assert.equal(response.text, 'I could not search in time.')
assert.equal(response.attempts[0]?.reason, 'timeout')
assert.equal(client.requests[0]?.signal.aborted, true)
assert.equal(aborted, true)
const [result] = response.messages.flatMap(({ contents }) =>
  contents.filter((content) => content.type === 'function-result'),
)
assert.equal(result?.error?.code, 'timeout')

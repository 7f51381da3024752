// A user changes an earlier question. The conversation is forked before that question, so both versions stay:
// the copy has the messages up to the given one and the session's state, and neither changes the other.
import assert from 'node:assert/strict'
import { Agent, createSession, forkSession } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'

const client = scriptedClient([
  'Hello Ada.',
  'Take the train to Rome.',
  'Take the ferry to Palermo.',
])
const agent = new Agent({ client })
const session = createSession()

await agent.run('I am Ada.', { session })
const greeting = session.messages.at(-1)!
await agent.run('How do I get to Rome?', { session })

const other = forkSession(session, { until: greeting.id })
await agent.run('How do I get to Palermo?', { session: other })

for (const { id, messages } of [session, other]) {
  console.log(`${id === session.id ? 'first' : 'fork '}: ${messages.length} messages`)
}
const read = client.requests[2]!.messages.map(({ role }) => role)
assert.deepEqual(read, ['user', 'assistant', 'user'])
assert.doesNotMatch(JSON.stringify(client.requests[2]!.messages), /Rome/)
assert.equal(session.messages.length, 4)
assert.notEqual(other.id, session.id)

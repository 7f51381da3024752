// A run fails after a tool has booked a flight. The session keeps the call and its result, so the next run knows
// of the booking and does not book again.
import assert from 'node:assert/strict'
import { Agent, createSession, outcomeOf, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'

let bookings = 0
const book = tool({
  name: 'book_flight',
  description: 'Books a flight.',
  execute: () => `booking ${++bookings}`,
})
const client = scriptedClient([
  callFunction('book_flight'),
  new Error('the provider is down'),
  ({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? 'It is booked.' : callFunction('book_flight'),
])
const agent = new Agent({ client, tools: [book] })
const session = createSession()

const error = await agent
  .run('Book me a flight to Rome.', { session })
  .catch((thrown: unknown) => thrown)
console.log(`first run: ${outcomeOf(error)?.status}, ${session.messages.length} messages kept`)

const { text } = await agent.run('And?', { session })
console.log(`second run: ${text}`)
assert.equal(bookings, 1)
assert.deepEqual(
  session.messages.map(({ role }) => role),
  ['user', 'assistant', 'tool', 'user', 'assistant'],
)

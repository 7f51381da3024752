// Talk to an agent while it works: it reads what you say at its next step, and what you queue after its answer.
import assert from 'node:assert/strict'
import { Agent, tool } from '@lamella/core'
import { createInbox } from '@lamella/steering'
import { callFunction, scriptedClient } from '@lamella/testing'

const inbox = createInbox()
const search = tool({
  name: 'search',
  description: 'Searches flights.',
  execute: () => {
    // The user sees that it searches all flights, and says so.
    void inbox.steer('Only direct ones.').then((delivery) => console.log('steered:', delivery.type))
    void inbox.queue('Book a hotel, too.').then((delivery) => console.log('queued:', delivery.type))
    return '3 flights'
  },
})
const client = scriptedClient([callFunction('search', {}), 'One is direct.', 'The Ritz is booked.'])
const agent = new Agent({ client, tools: [search] })

const { messages } = await agent.run('Find a flight to Rome.', { middleware: inbox })

assert.deepEqual(
  messages.map(({ role }) => role),
  ['assistant', 'tool', 'user', 'assistant', 'user', 'assistant'],
)
assert.equal((await inbox.steer('Wait!')).type, 'not-delivered')

// A process that crashes between a call and its result leaves a session with an open call. When the user
// continues, the call gets a result that explains the crash, so that the model does not simply repeat it.
import assert from 'node:assert/strict'
import { Agent, createSession, message, tool } from '@lamella/core'
import { patchToolCalls } from '@lamella/middleware-truncate'
import { callFunction, scriptedClient } from '@lamella/testing'

const session = createSession({
  messages: [
    message('user', 'Pay the bill.'),
    message('assistant', callFunction('pay', { cents: 1200 }, 'call_1')), // and then the power failed
  ],
})
const pay = tool({ name: 'pay', description: 'Pays.', execute: () => 'paid' })
const client = scriptedClient(['I do not know whether it was paid. Shall I look?'])
const agent = new Agent({
  client,
  tools: [pay],
  middleware: patchToolCalls({
    result: ({ name }) => `It is not known whether ${name} was done: the conversation broke off.`,
  }),
})

const { text } = await agent.run('Did you?', { session })
console.log(text)

const results = session.messages.filter(({ role }) => role === 'tool')
console.log(JSON.stringify(results[0]?.contents))
assert.equal(results.length, 1)
assert.match(JSON.stringify(client.requests[0]?.messages), /not known whether pay was done/)

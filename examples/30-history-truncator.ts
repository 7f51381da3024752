// A long conversation with tools is cut to a number of tokens. It is cut between turns, so every call keeps
// its result, and the pinned message remains; the session stores everything.
import assert from 'node:assert/strict'
import { Agent, message, messageText, visibleHistory } from '@lamella/core'
import { historyTruncator } from '@lamella/middleware-truncate'
import { scriptedClient } from '@lamella/testing'

const turns = Array.from({ length: 30 }, (_, n) => [
  message('user', n === 3 ? 'My name is Ada. Remember it.' : `How is city ${n}?`),
  message('assistant', {
    type: 'function-call',
    callId: `call_${n}`,
    name: 'get_weather',
    arguments: `{"city":${n}}`,
  }),
  message('tool', {
    type: 'function-result',
    callId: `call_${n}`,
    contents: [{ type: 'text', text: `In city ${n} it is sunny, with light winds from the west.` }],
  }),
  message('assistant', `Sunny in city ${n}.`),
]).flat()

const client = scriptedClient(['You are Ada.'])
const agent = new Agent({
  client,
  instructions: 'Tell the weather.',
  middleware: historyTruncator({
    maxTokens: 400,
    headroom: 0.25,
    keep: { pinned: (entry) => messageText(entry).includes('Remember') },
    onEvent: (event) => console.log(event),
  }),
})
const session = agent.createSession({ messages: turns })
await agent.run('Who am I?', { session })

const sent = client.requests[0]?.messages ?? []
console.log(sent.map((entry) => `${entry.role}: ${messageText(entry)}`).slice(0, 5))
assert.ok(sent.length < 30)
assert.deepEqual(visibleHistory(sent), sent)
assert.equal(messageText(sent[0]!), 'My name is Ada. Remember it.')
assert.equal(session.messages.length, turns.length + 2)

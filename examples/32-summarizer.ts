// When a conversation grows too long, a small model summarizes its beginning. The summary replaces it
// in the call and in the session. The cost is counted, and the caller's stream does not contain the call.
import assert from 'node:assert/strict'
import { Agent, messageText } from '@lamella/core'
import { summarizer } from '@lamella/middleware-truncate'
import { scriptedClient } from '@lamella/testing'

const writer = scriptedClient(({ messages }) => ({
  messages: JSON.stringify({
    facts: [`${messages.map(messageText).join('\n').split('\n').length} lines were read`],
    decisions: ['Tea, no milk'],
    openTasks: [],
    files: [],
  }),
  usage: { totalTokens: 50 },
}))
const client = scriptedClient(({ messages }) => `I see ${messages.length} messages.`)
const agent = new Agent({
  client,
  middleware: summarizer({
    client: writer,
    format: 'structured',
    maxMessages: 10,
    keepMessages: 4,
    onEvent: ({ action, messages }) => console.log(`${action} ${messages} messages`),
  }),
})

const session = agent.createSession()
let shown = ''
for (let turn = 1; turn <= 12; turn++) {
  const stream = agent.run(`turn ${turn}`, { session, stream: true })
  for await (const piece of stream.text()) shown += piece
}

const [summary] = session.messages.map(messageText)
console.log(summary)
assert.match(summary ?? '', /Decisions:\n- Tea, no milk/)
assert.ok(session.messages.length <= 12)
assert.ok(writer.requests.length >= 2)
assert.doesNotMatch(shown, /milk/)
assert.ok(client.requests.every(({ messages }) => messages.length <= 10))

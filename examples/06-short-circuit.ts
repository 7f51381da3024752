// A middleware that sets a result and returns without callNext() is a short circuit: nothing inside it runs,
// the outer middleware continues as usual, and a streaming caller receives the result as updates.
import assert from 'node:assert/strict'
import type { ChatResponse } from '@lamella/core'
import { Agent, chatMiddleware, messageText } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'

const remembered = new Map<string, ChatResponse>()

const memory = chatMiddleware('memory', async (context, callNext) => {
  const key = context.messages.map(messageText).join('\n')
  const known = remembered.get(key)
  if (known === undefined) {
    remembered.set(key, await callNext())
    return
  }
  // A remembered answer costs nothing.
  context.result = { ...known, usage: {} }
})

const log = chatMiddleware('log', async (_context, callNext) => {
  const { text, usage } = await callNext()
  console.log(`${text} (${usage.totalTokens ?? 0} tokens)`)
})

const client = scriptedClient(['Rome is the capital of Italy.'])
const agent = new Agent({ client, middleware: [log, memory] })

const first = await agent.run('Tell me about Rome.')
const second = await agent.run('Tell me about Rome.')
const stream = agent.run('Tell me about Rome.', { stream: true })
let streamed = ''
for await (const piece of stream.text()) streamed += piece
console.log(`streamed: ${streamed}`)

assert.equal(client.requests.length, 1)
assert.equal(second.text, first.text)
assert.equal(streamed, first.text)
assert.equal(first.usage.totalTokens, 15)
assert.equal(second.usage.totalTokens ?? 0, 0)

// Guardrails and a budget inside an agent of LangChain: its stream gets the text after the middleware.
import assert from 'node:assert/strict'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { pii } from '@lamella/guardrail-pii'
import { lamellaMiddleware } from '@lamella/langchain'
import { budget } from '@lamella/middleware-budget'
import { createAgent } from 'langchain'

const agent = createAgent({
  // Replays answers, letter by letter. Use 'openai:gpt-5-mini' or any other model of LangChain.
  model: new FakeListChatModel({ responses: ['Write to ada@example.com, or call.'] }),
  tools: [],
  middleware: [lamellaMiddleware([budget({ limits: { modelCalls: 5 } }), pii()])],
})

let read = ''
const input = { messages: [{ role: 'user', content: 'How do I reach Ada?' }] }
for await (const [chunk] of await agent.stream(input, { streamMode: 'messages' })) {
  process.stdout.write(chunk.text)
  read += chunk.text
}
process.stdout.write('\n')
assert.equal(read, 'Write to [EMAIL], or call.')

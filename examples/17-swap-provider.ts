// Only the client knows its provider. This conversation begins at OpenAI, calls a tool there, and continues
// at Anthropic: one line changes. The messages are sent; data that only OpenAI understands is not.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AnthropicChatClient } from '@lamella/anthropic'
import type { ChatClient } from '@lamella/core'
import { Agent, createSession, tool } from '@lamella/core'
import { OpenAIChatClient } from '@lamella/openai'
import { startModelServer } from '@lamella/testing/model-server'
import { z } from 'zod'

const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `sunny in ${city}`,
})
const assistant = (client: ChatClient): Agent => new Agent({ client, tools: [weather] })

// Two local servers replace the real ones: OpenAI's protocol, and one answer of Anthropic's.
await using openAI = await startModelServer()
let arrived = ''
const anthropic = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => (arrived += chunk.toString()))
  const content = [{ type: 'text', text: 'I said that it is sunny in Rome.' }]
  const answer = { id: 'msg_1', type: 'message', role: 'assistant', content }
  response.setHeader('content-type', 'application/json')
  request.on('end', () => response.end(JSON.stringify({ ...answer, stop_reason: 'end_turn' })))
}).listen(0, '127.0.0.1')
await once(anthropic, 'listening')
const { port } = anthropic.address() as AddressInfo

const session = createSession()
const first = new OpenAIChatClient({ baseURL: openAI.baseURL, model: 'lamella-stand-in' })
console.log((await assistant(first).run('How is the weather in Rome?', { session })).text)

const second = new AnthropicChatClient({
  apiKey: 'none',
  baseURL: `http://127.0.0.1:${port}`,
  model: 'claude-sonnet-5-5',
})
console.log('What Anthropic is not sent:', second.canContinue(session.messages).losses)
console.log((await assistant(second).run('What did you say?', { session })).text)
anthropic.close()

// The question, the call, its result and the answer, in Anthropic's format, and the new question.
const said: { messages: { role: string }[] } = JSON.parse(arrived)
const roles = said.messages.map(({ role }) => role)
assert.deepEqual(roles, ['user', 'assistant', 'user', 'assistant', 'user'])
assert.match(arrived, /"type":"tool_result".*sunny in Rome/)
assert.equal(session.messages.at(-1)?.origin?.provider, 'anthropic')

// retry() owns all retries: those of the provider's SDK, of inner middleware, and of tools that may run twice.
// In this example, a real server fails twice and an idempotent tool once. The server counts the requests.
import assert from 'node:assert/strict'
import { Agent, jsonSchema, tool } from '@lamella/core'
import { retry } from '@lamella/middleware-retry'
import { OpenAIChatCompletionsClient } from '@lamella/openai'
import { startModelServer } from '@lamella/testing/model-server'

await using server = await startModelServer({
  failures: [{ status: 503 }, { status: 429, headers: { 'retry-after-ms': '30' } }],
})
const client = new OpenAIChatCompletionsClient({
  baseURL: server.baseURL,
  model: 'lamella-stand-in',
})

let calls = 0
const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: jsonSchema({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  }),
  idempotent: true,
  execute: ({ city }) => {
    if (++calls === 1) throw new Error('the weather service hung up')
    return `sunny in ${String(city)}`
  },
})

const middleware = retry({
  maxRetries: 2,
  initialDelayMs: 10,
  rejectReply: ({ response }) => response.text === '' && response.functionCalls.length === 0,
  onEvent: (event) => console.log(event),
})
const agent = new Agent({ client, tools: [weather], middleware: middleware })
const response = await agent.run('What is the weather in Rome?')

console.log(response.text)
assert.equal(server.requests.length, 4) // two failures, the call of the tool, the answer
assert.equal(calls, 2)
assert.deepEqual(
  response.attempts.map(({ status, reason }) => [status, reason]),
  [
    ['failed', 'overloaded'],
    ['failed', 'rate_limit'],
    ['ok', undefined],
  ],
)
assert.equal(response.attempts[1]?.delayMs, 30)

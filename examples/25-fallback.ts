// fallback() calls the next client when one fails. In this example, the first server fails in the middle of
// a conversation with tools, and a client of another API continues its history for the rest of the run.
import assert from 'node:assert/strict'
import { Agent, jsonSchema, tool } from '@lamella/core'
import { fallback } from '@lamella/middleware-fallback'
import { OpenAIChatClient, OpenAIChatCompletionsClient } from '@lamella/openai'
import { startModelServer } from '@lamella/testing/model-server'

await using first = await startModelServer({
  failures: ({ index }) => (index === 0 ? undefined : { status: 503 }),
})
await using second = await startModelServer()

const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: jsonSchema({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  }),
  execute: ({ city }) => `sunny in ${String(city)}`,
})
const other = new OpenAIChatCompletionsClient({
  baseURL: second.baseURL,
  provider: 'other',
  model: 'lamella-stand-in',
})
const agent = new Agent({
  client: new OpenAIChatClient({ baseURL: first.baseURL, model: 'lamella-stand-in' }),
  tools: [weather],
  options: { transportRetries: 0 },
  middleware: fallback({ clients: [other], onEvent: (event) => console.log(event) }),
})

const response = await agent.run('What is the weather in Rome?')

console.log(response.text, response.metadata['servedBy'])
assert.match(response.text, /sunny in Rome/)
assert.deepEqual(response.metadata['servedBy'], { provider: 'other', model: 'lamella-stand-in' })
assert.deepEqual(
  response.attempts.map(({ provider, status }) => `${provider} ${status}`),
  ['openai failed', 'other ok'],
)
assert.deepEqual([first.requests.length, second.requests.length], [2, 1])

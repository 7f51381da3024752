// withFunctionInvocation() gives any client the tool loop of an agent: getResponse() executes the tools that the
// model calls, through the chat and function middleware of the client.
import assert from 'node:assert/strict'
import { functionMiddleware, jsonSchema, tool, withFunctionInvocation } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'

const weather = tool({
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: jsonSchema({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  }),
  execute: ({ city }) => `sunny in ${String(city)}`,
})
const log: string[] = []
const audit = functionMiddleware('audit', async (context, callNext) => {
  await callNext()
  log.push(context.function.name)
})

const model = scriptedClient(
  [
    callFunction('get_weather', { city: 'Oslo' }),
    'Take sunglasses.',
    callFunction('get_weather', { city: 'Rome' }),
  ],
  { middleware: audit },
)
const client = withFunctionInvocation(model, { maxIterations: 5 })

const { text } = await client.getResponse('What do I need in Oslo?', { tools: [weather] })
console.log(text)

// A required tool call returns right after the tools have run.
const required = await client.getResponse('How is it in Rome?', {
  tools: [weather],
  toolChoice: 'required',
})
console.log(required.messages.map(({ role }) => role).join(', '), log)

assert.equal(text, 'Take sunglasses.')
assert.deepEqual(
  required.messages.map(({ role }) => role),
  ['assistant', 'tool'],
)
assert.deepEqual(log, ['get_weather', 'get_weather'])

// A chat middleware wraps every model call, including those inside the tool loop. Inner middleware and the
// model see the values it assigns; outer middleware and the caller do not.
import assert from 'node:assert/strict'
import { Agent, chatMiddleware, jsonSchema, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'

const log = chatMiddleware('log', async (context, callNext) => {
  console.log(`→ model call ${context.iteration}, ${context.messages.length} messages`)
  const response = await callNext()
  console.log(`← it ended with ${response.finishReason}`)
})

const polite = chatMiddleware('polite', async (context, callNext) => {
  context.instructions = `${context.instructions ?? ''} Say please.`.trim()
  context.options = { ...context.options, temperature: 0 }
  await callNext()
})

const client = scriptedClient([callFunction('add', { a: 2, b: 3 }), 'Please, it is 5.'])
const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  parameters: jsonSchema({
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
  }),
  execute: ({ a, b }) => Number(a) + Number(b),
})

// The first middleware in the list is the outermost.
const agent = new Agent({
  client,
  instructions: 'Calculate.',
  tools: [add],
  middleware: [log, polite],
})
const response = await agent.run('What is 2 + 3?')

console.log(response.text)
for (const { instructions } of client.requests) console.log(`the model was told: ${instructions}`)

assert.equal(client.requests.length, 2)
assert.ok(client.requests.every(({ instructions }) => instructions === 'Calculate. Say please.'))
assert.ok(client.requests.every(({ options }) => options.temperature === 0))
assert.equal(agent.instructions, 'Calculate.')

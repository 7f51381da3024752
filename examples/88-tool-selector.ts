// toolSelector() shows the model only the tools that matter for a request. A small model chooses them.
import assert from 'node:assert/strict'
import { Agent, jsonSchema, tool } from '@lamella/core'
import { toolSelector } from '@lamella/middleware-truncate'
import { callFunction, scriptedClient } from '@lamella/testing'

const subjects = ['weather', 'calendar', 'mail', 'search', 'stocks', 'maps']
const tools = subjects.map((name) =>
  tool({
    name,
    description: `Answers questions about ${name}.`,
    parameters: jsonSchema({ type: 'object' }),
    execute: () => 'Sunny, 24 degrees.',
  }),
)

const small = scriptedClient(['weather\nmaps'])
const client = scriptedClient([callFunction('weather'), 'It is sunny in Rome.'])
const agent = new Agent({
  client,
  tools,
  middleware: toolSelector({ client: small, maxTools: 2, always: ['search'] }),
})

const { text, usage } = await agent.run('How is Rome?')

const shown = client.requests.map(({ options }) =>
  options.tools?.map(({ name }) => name).join(', '),
)
console.log(text, shown, usage)
assert.deepEqual(shown, ['weather, search, maps', 'weather, search, maps'])

// An agent is a model with tools and middleware. This one runs without a key: a local model server speaks
// OpenAI's protocol. For a real model, remove the server and set OPENAI_API_KEY.
import assert from 'node:assert/strict'
import { Agent, chatMiddleware, tool } from '@lamella/core'
import { OpenAIChatClient } from '@lamella/openai'
import { startModelServer } from '@lamella/testing/model-server'
import { z } from 'zod'

await using server = await startModelServer()

const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `sunny in ${city}`,
})
const timing = chatMiddleware('timing', async (context, callNext) => {
  const start = performance.now()
  await callNext()
  console.log(`model call ${context.iteration}: ${Math.round(performance.now() - start)} ms`)
})
const client = new OpenAIChatClient({ baseURL: server.baseURL, model: 'lamella-stand-in' })

const agent = new Agent({ client, tools: [weather], middleware: [timing] })
const response = await agent.run('How is the weather in Rome?')

console.log(response.text)
assert.equal(response.status, 'completed')
assert.match(response.text, /sunny in Rome/)

// A loop other than the agent's. The three pipelines run middleware around it, its model calls and its tool
// calls, as they do for an agent: in both modes, with sessions, state and terminations.
import assert from 'node:assert/strict'
import {
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  tool,
} from '@lamella/core'
import { agentPipeline, chatPipeline, functionPipeline } from '@lamella/core/authoring'
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
const agents = agentPipeline(
  agentMiddleware('audit', async (context, callNext) => {
    const { usage } = await callNext()
    log.push(`${context.run.agentName} used ${usage.totalTokens} tokens`)
  }),
)
const calls = chatPipeline(
  chatMiddleware('note', async (_context, callNext) => {
    const { text, functionCalls } = await callNext()
    log.push(functionCalls.length > 0 ? 'a tool call' : text)
  }),
)
const tools = functionPipeline(
  functionMiddleware('uppercase', async (context, callNext) => {
    context.arguments = { city: String(context.arguments['city']).toUpperCase() }
    await callNext()
  }),
)
const scout = scriptedClient([callFunction('get_weather', { city: 'Rome' })])
const writer = scriptedClient([
  ({ messages: seen }) => `It is ${JSON.stringify(seen.at(-1)?.contents)}.`,
])
const input = { name: 'duo', client: scout, messages: 'How is it in Rome?' }
const stream = agents.stream(input, async ({ run }, add) => {
  const options = { tools: [weather] }
  const asked = await calls.execute({ run, client: scout, messages: run.messages.all, options })
  add(asked.messages)
  for (const { callId, ...call } of asked.functionCalls) {
    const { contents } = await tools.execute({ run, function: weather, callId, ...call })
    add({ role: 'tool', contents: [{ type: 'function-result', callId, contents }] })
  }
  return calls.execute({ run, client: writer, messages: run.messages.all })
})
for await (const piece of stream.text()) process.stdout.write(piece)
console.log(`\n${log.join('\n')}`)

assert.match((await stream.finalResponse()).text, /sunny in ROME/)
assert.equal(log.at(-1), 'duo used 30 tokens')

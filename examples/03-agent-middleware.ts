// An agent middleware wraps the whole run: it sees the input once and the final response once,
// for any number of model calls and tool calls.
import assert from 'node:assert/strict'
import { Agent, agentMiddleware, chatMiddleware, message, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'

const steps: string[] = []

const summary = agentMiddleware('summary', async (context, callNext) => {
  steps.push('run begins')
  const response = await callNext()
  const calls = response.messages.filter(({ role }) => role === 'tool').length
  steps.push(
    `run ends: ${response.status}, ${calls} tool call, ${context.run.usage.totalTokens} tokens`,
  )
})

const today = agentMiddleware('today', async (context, callNext) => {
  context.messages = [message('system', 'Today is Friday.'), ...context.messages]
  await callNext()
})

const calls = chatMiddleware('calls', async (context, callNext) => {
  steps.push(`  model call ${context.iteration}`)
  await callNext()
})

const client = scriptedClient([callFunction('opening_hours'), 'It is open until six.'])
const hours = tool({
  name: 'opening_hours',
  description: 'Tells when the shop is open.',
  execute: () => 'Friday: 9 to 18',
})
const agent = new Agent({ client, tools: [hours], middleware: [calls, summary, today] })
const response = await agent.run('How long is the shop open today?')

console.log(steps.join('\n'))
console.log(response.text)

assert.deepEqual(steps, [
  'run begins',
  '  model call 0',
  '  model call 1',
  'run ends: completed, 1 tool call, 30 tokens',
])
assert.equal(client.requests[0]?.messages[0]?.role, 'system')

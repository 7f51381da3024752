// The tools of a run can change while it runs. A few tools at first keep the prompt short; a tool
// or a middleware adds others when they are needed. Changes apply from the next model call on.
import assert from 'node:assert/strict'
import { Agent, chatMiddleware, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { z } from 'zod'

const toolboxes = {
  billing: [
    tool({ name: 'send_invoice', description: 'Sends an invoice.', execute: () => 'sent' }),
    tool({ name: 'refund', description: 'Pays back.', execute: () => 'refunded' }),
  ],
  travel: [tool({ name: 'book_train', description: 'Books a train.', execute: () => 'booked' })],
}

const openToolbox = tool({
  name: 'open_toolbox',
  description: 'Makes the tools for a subject available.',
  parameters: z.object({ subject: z.enum(['billing', 'travel']) }),
  execute: ({ subject }, context) => {
    const tools = toolboxes[subject]
    context.addTools(...tools)
    return `You now have ${tools.map(({ name }) => name).join(' and ')}.`
  },
})

const log = chatMiddleware('log', async (context, callNext) => {
  const names = context.options.tools?.map(({ name }) => name) ?? []
  console.log(`model call ${context.iteration} is offered: ${names.join(', ')}`)
  await callNext()
})

const client = scriptedClient([
  callFunction('open_toolbox', { subject: 'billing' }),
  callFunction('refund'),
  'Your money is on its way.',
])
const agent = new Agent({ client, tools: [openToolbox], middleware: [log] })
const response = await agent.run('I want my money back.')

console.log(response.text)
const offered = client.requests.map(({ options }) => options.tools?.map(({ name }) => name))
assert.deepEqual(offered, [
  ['open_toolbox'],
  ['open_toolbox', 'send_invoice', 'refund'],
  ['open_toolbox', 'send_invoice', 'refund'],
])
// Tools added by a run are removed when it ends.
assert.deepEqual(agent.tools, [openToolbox])

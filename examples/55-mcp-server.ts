// An agent as an MCP server, and another agent that calls it. The calling agent's user gives the approval.
import assert from 'node:assert/strict'
import { Agent, jsonSchema, tool } from '@lamella/core'
import { mcpElicitation, mcpTools } from '@lamella/mcp'
import { agentServer } from '@lamella/mcp/server'
import { callFunction, scriptedClient } from '@lamella/testing'
import { createMcpHandler } from '@modelcontextprotocol/server'

const refunds: unknown[] = []
const refund = tool({
  name: 'refund',
  description: 'Refunds an order.',
  parameters: jsonSchema({
    type: 'object',
    properties: { euros: { type: 'number' } },
    required: ['euros'],
  }),
  approval: 'always',
  execute({ euros }) {
    refunds.push(euros)
    return 'done'
  },
})
const support = new Agent({
  description: 'Answers customers, and refunds orders.',
  client: scriptedClient([callFunction('refund', { euros: 20 }), 'You get 20 euros back.']),
  tools: [refund],
})

// A fetch handler for your own server: `export default { fetch }`.
const { fetch } = createMcpHandler(agentServer({ support }))

// Any MCP client may call it. This one is an agent; requests go to the handler without a network.
const remote = mcpTools(
  {
    url: 'http://localhost/mcp',
    fetch: async (url, init) => fetch(new Request(url, init)),
  },
  { name: 'shop' },
)
await using desk = new Agent({
  client: scriptedClient([callFunction('shop_support', { input: 'My mug broke.' }), 'All set.']),
  middleware: remote,
})
const { text } = await desk.run('Help with a broken mug.', {
  onRequest(event) {
    if (!mcpElicitation.is(event)) return undefined
    console.log(event.data.message)
    return { action: 'accept', content: { approve: true } }
  },
})
console.log(text)

assert.equal(text, 'All set.')
assert.deepEqual(refunds, [20])

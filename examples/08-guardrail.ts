// A guardrail is a middleware that throws GuardrailTripped. The run then ends as `blocked`, at any level.
// That is an outcome, not a failure, and the user reads a neutral sentence without the blocked text.
import assert from 'node:assert/strict'
import type { Block } from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  functionMiddleware,
  GuardrailTripped,
  messageText,
  tool,
} from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'

const noCards = agentMiddleware('no-cards', async (context, callNext) => {
  const input = context.messages.map(messageText).join('\n')
  const block: Block = {
    guardrail: 'no-cards',
    level: 'agent',
    stage: 'input',
    category: 'card-number',
    message: 'Please do not send card numbers.',
  }
  if (/\b(?:\d[ -]?){16}\b/.test(input)) throw new GuardrailTripped(block)
  await callNext()
})

const readOnly = functionMiddleware('read-only', async (context, callNext) => {
  const rule = { guardrail: 'read-only', level: 'function', stage: 'arguments' } as const
  // Without its own sentence, the user reads the agent's `blockMessage`.
  const block: Block = { ...rule, category: 'write', message: '' }
  if (!context.function.readOnly) throw new GuardrailTripped(block)
  await callNext()
})

let deleted = 0
const remove = tool({
  name: 'delete_all',
  description: 'Deletes all files.',
  execute: () => `deleted ${++deleted}`,
})
const client = scriptedClient([callFunction('delete_all')])
const agent = new Agent({ client, tools: [remove], middleware: [noCards, readOnly] })

const card = await agent.run('My card is 4111 1111 1111 1111, buy me a lamp.')
console.log(`${card.status} by ${card.block?.guardrail}: ${card.text}`)
assert.equal(card.status, 'blocked')
assert.equal(client.requests.length, 0)
assert.doesNotMatch(JSON.stringify(card), /4111/)

const call = await agent.run('Clean up.')
console.log(`${call.status} by ${call.block?.guardrail}: ${call.text}`)
assert.equal(call.text, agent.blockMessage)
assert.equal(deleted, 0)

const run = agent.run('4111-1111-1111-1111', { onBlock: 'throw' })
await assert.rejects(run, { code: 'guardrail_tripped' })

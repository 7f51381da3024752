// Personal data and secrets never reach the model, and never leave the run: not in a plain or streamed
// answer, not in arguments at any depth, and not in results of tools.
import assert from 'node:assert/strict'
import { Agent, tool } from '@lamella/core'
import { pii } from '@lamella/guardrail-pii'
import { callFunction, scriptedClient } from '@lamella/testing'

const customer = tool({
  name: 'find_customer',
  description: 'Finds a customer.',
  execute: () => ({ name: 'Ann', card: 5555555555554444, contact: { mail: 'ann@example.com' } }),
})
const client = scriptedClient(
  [callFunction('find_customer'), 'Write to bob@example.org or call +44 20 7946 0958.'],
  { chunk: 1 },
)
const guardrail = pii({
  entities: ['contact', 'financial', 'secrets'],
  // By kind or by group.
  strategy: { default: 'redact', phone: 'mask', secrets: 'block' },
  allow: [/.*@support\.example/],
  onEvent: ({ stage, status, category }) => {
    if (status !== 'passed') console.log(stage, status, category)
  },
})
const agent = new Agent({ client, tools: [customer], middleware: guardrail })

const stream = agent.run('I am ann@example.com, ask help@support.example.', { stream: true })
let shown = ''
for await (const piece of stream.text()) shown += piece
console.log(shown)

assert.equal(shown, 'Write to [EMAIL] or call +** ** **** 0958.')
const sent = JSON.stringify(client.requests)
assert.match(sent, /I am \[EMAIL\], ask help@support\.example\./)
assert.match(sent, /\[CREDIT_CARD\]/)
assert.doesNotMatch(sent, /ann@|5555/)

// In two parts, so that no tool mistakes it for a real secret.
const key = ['sk_live', '4eC39HqLyjWDarjtT1zdp7dc'].join('_')
const leak = new Agent({
  client: scriptedClient([`The key is ${key}.`]),
  middleware: guardrail,
})
const blocked = await leak.run('Which key?')
console.log(blocked.status, blocked.block?.category)
assert.equal(blocked.status, 'blocked')
assert.doesNotMatch(JSON.stringify(blocked), /sk_live/)

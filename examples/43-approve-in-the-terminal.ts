// A tool that asks before it acts. In a terminal, the example asks you; elsewhere it approves by itself.
import assert from 'node:assert/strict'
import { createInterface } from 'node:readline/promises'
import { Agent, jsonSchema, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'

const sent: string[] = []
const sendMail = tool({
  name: 'send_mail',
  description: 'Sends a mail.',
  parameters: jsonSchema({
    type: 'object',
    properties: { to: { type: 'string' }, text: { type: 'string' } },
    required: ['to', 'text'],
  }),
  approval: ({ arguments: { to } }) => !String(to).endsWith('@example.com'),
  execute: ({ to }) => {
    sent.push(String(to))
    return 'sent'
  },
})
const client = scriptedClient([
  [
    callFunction('send_mail', { to: 'ada@example.com', text: 'Lunch?' }),
    callFunction('send_mail', { to: 'bob@elsewhere.org', text: 'Our prices.' }),
  ],
  'I have sent what I was allowed to send.',
])
const agent = new Agent({ client, tools: [sendMail] })

async function ask(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    console.log(`${question} yes`)
    return true
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(question)
  terminal.close()
  return answer.trim().toLowerCase().startsWith('y')
}

let response = await agent.run('Invite Ada, and send Bob our prices.')
while (response.checkpoint !== undefined) {
  const answers: Record<string, boolean> = {}
  for (const request of response.pending) {
    if (request.kind !== 'approval') continue
    const { name, arguments: args } = request.request.call
    answers[request.id] = await ask(`May the agent call ${name} with ${args}? (yes or no)`)
  }
  response = await agent.resume(response.checkpoint, answers)
}

console.log(response.text)
assert.equal(response.status, 'completed')
assert.equal(sent[0], 'ada@example.com')

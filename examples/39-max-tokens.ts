// Token limits: input that is too long is blocked, with figures; an answer is limited in the request and cut
// while it streams; arguments that are too long are returned to the model. If gpt-tokenizer is installed,
// tokens are counted with the model's own vocabulary.
import assert from 'node:assert/strict'
import { Agent, tool } from '@lamella/core'
import type { TokenEvent } from '@lamella/guardrail-tokens'
import { maxTokens } from '@lamella/guardrail-tokens'
import { callFunction, scriptedClient } from '@lamella/testing'
import { z } from 'zod'

const events: TokenEvent[] = []
const limits = maxTokens({
  maxInputTokens: 200,
  maxOutputTokens: 12,
  maxToolArgumentsTokens: 20,
  onEvent: (event) => {
    if (event.status !== 'passed') events.push(event)
  },
})

const notes: string[] = []
const note = tool({
  name: 'note',
  description: 'Writes a note.',
  parameters: z.object({ text: z.string() }),
  execute: ({ text }) => `note ${notes.push(text)}`,
})
const client = scriptedClient(
  [
    callFunction('note', { text: 'remember '.repeat(50) }),
    callFunction('note', { text: 'remember' }),
    'I have written it down, and now I run on and on about how well I did that.',
  ],
  { model: 'gpt-4o', chunk: 5 },
)
const agent = new Agent({ client, tools: [note], middleware: limits })

let seen = ''
for await (const piece of agent.run('Write it down.', { stream: true }).text()) seen += piece
console.log(seen)
assert.equal(seen, 'I have written it down, and now I run on and')
assert.deepEqual(notes, ['remember'])
assert.equal(client.requests[0]?.options.maxOutputTokens, 12)

const long = await agent.run('And this. '.repeat(100))
console.log(`${long.status}: ${long.text}`)
assert.match(long.text, /^The input has \d+ tokens, and 200 are allowed\.$/)
assert.equal(client.requests.length, 3)

console.log(events.map(({ stage, status, method }) => `${stage} ${status} ${method ?? ''}`))
assert.equal(events.at(-1)?.method, 'exact')

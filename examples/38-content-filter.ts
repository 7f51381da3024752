// A content filter finds whole words, even when they are disguised, and asks a moderator about all other
// text. Each category has an action, and a streamed answer is filtered before anybody sees it.
import assert from 'node:assert/strict'
import { Agent } from '@lamella/core'
import type { Moderator } from '@lamella/guardrail-content'
import { contentFilter } from '@lamella/guardrail-content'
import { scriptedClient } from '@lamella/testing'

// In an application: openaiModeration({ apiKey }) or azureContentSafety({ endpoint, apiKey }).
const moderator: Moderator = {
  name: 'threats',
  moderate: async (input) => {
    const isThreat = input.type === 'text' && /i will find you/i.test(input.text)
    return { threat: { flagged: isThreat, score: isThreat ? 0.9 : 0.1 } }
  },
}

const client = scriptedClient(
  ['Sc\u200bunthorpe is d\u0430mn cold. D4mn!', 'Sit down. I will find you.'],
  { chunk: 3 },
)
const agent = new Agent({
  client,
  middleware: contentFilter({
    words: { swearing: ['damn', 'cunt'] },
    leet: true,
    moderation: moderator,
    actions: { swearing: 'replace', threat: 'block' },
  }),
})

let seen = ''
for await (const piece of agent.run('How is the town?', { stream: true }).text()) seen += piece
console.log(seen)
assert.equal(seen, 'Sc\u200bunthorpe is *** cold. ***!')

const answered = await agent.run('And the people?')
console.log(`${answered.status}: ${answered.block?.category}`)
assert.equal(answered.block?.guardrail, 'content-moderation')
assert.doesNotMatch(JSON.stringify(answered), /find you/)

const asked = await agent.run('I WILL FIND YOU')
console.log(`${asked.status} at ${asked.block?.stage}: ${asked.text}`)
assert.equal(asked.block?.stage, 'input')
assert.equal(client.requests.length, 2)

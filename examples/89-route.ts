// route() chooses the client of each run: a small model reads the request, and simple ones go to a cheap model.
// Where the chosen server keeps failing, calls go to the others for a while.
import assert from 'node:assert/strict'
import { Agent, ProviderError } from '@lamella/core'
import { classify, fallback, route } from '@lamella/middleware-fallback'
import { scriptedClient } from '@lamella/testing'

let isDown = false
const cheap = scriptedClient(
  () =>
    isDown ? new ProviderError('down', { kind: 'server', provider: 'cheap' }) : 'The cheap one.',
  { provider: 'cheap', model: 'small' },
)
const dear = scriptedClient(() => 'The dear one.', { provider: 'dear', model: 'large' })
const judge = scriptedClient(({ messages }) =>
  JSON.stringify(messages).includes('Prove') ? 'deep' : 'quick',
)

const choices: string[] = []
const agent = new Agent({
  client: dear,
  middleware: [
    route({
      clients: [
        { name: 'quick', client: cheap },
        { name: 'deep', client: dear },
      ],
      by: classify({
        client: judge,
        criteria: { quick: 'small talk and facts', deep: 'plans, proofs and code' },
      }),
      onEvent: ({ client, because }) => choices.push(`${client} (${because})`),
    }),
    fallback({ clients: [dear] }),
  ],
})

assert.equal((await agent.run('How are you?')).text, 'The cheap one.')
assert.equal((await agent.run('Prove that there is no largest prime.')).text, 'The dear one.')

isDown = true
for (let run = 0; run < 5; run++) {
  assert.equal((await agent.run('How are you?')).text, 'The dear one.')
}

console.log(choices)
assert.equal(cheap.requests.length, 4) // one that worked, and three that failed
assert.equal(choices.at(-1), 'deep (only)')

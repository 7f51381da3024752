// A long task reaches the limit of its iterations. A hook asks the user before the last one is spent, and
// continues only if the user agrees: the limit is a budget that a person can raise, for this run only.
import assert from 'node:assert/strict'
import { Agent, defineEvent, tool } from '@lamella/core'
import { lifecycle } from '@lamella/lifecycle'
import { callFunction, scriptedClient } from '@lamella/testing'
import { z } from 'zod'

const limit = 3
const more = defineEvent({
  type: 'more_rounds',
  data: z.object({ done: z.number() }),
  answer: z.number().int().min(0),
})
const askForMore = lifecycle({
  name: 'ask-for-more',
  async beforeIteration({ run }) {
    if (run.iteration !== limit - 1) return
    const rounds = await run.request(more({ done: run.iteration }))
    if (rounds > 0) run.allowIterations(rounds)
  },
})
const page = tool({ name: 'read_page', description: 'Reads the next page.', execute: () => 'text' })
const reads = () => [1, 2, 3, 4].map(() => callFunction('read_page'))
const agentWith = (client = scriptedClient([...reads(), 'A book about trains.'])) =>
  new Agent({
    client,
    tools: [page],
    middleware: askForMore,
    functionInvocation: { maxIterations: limit },
  })

const agreed = await agentWith().run('Summarize the book.', {
  onRequest: (event) => (more.is(event) ? 2 : undefined),
})
const refused = await agentWith().run('Summarize the book.', {
  onRequest: (event) => (more.is(event) ? 0 : undefined),
})

console.log(`agreed:  ${agreed.status}, ${agreed.text}`)
console.log(`refused: ${refused.status}`)
assert.equal(agreed.text, 'A book about trains.')
assert.equal(refused.status, 'max_iterations')

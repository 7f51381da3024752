// A question in other words gets the same answer, but a question about another number or name does not.
import assert from 'node:assert/strict'
import { Agent } from '@lamella/core'
import type { CacheInfo } from '@lamella/middleware-cache'
import { cache } from '@lamella/middleware-cache'
import { scriptedClient } from '@lamella/testing'

// Replaces an embedding model: it counts words in 256 slots.
function embed(question: string): number[] {
  const vector = Array.from({ length: 256 }, () => 0)
  for (const word of question.toLowerCase().match(/\p{L}{3,}/gu) ?? []) {
    let hash = 0
    for (const character of word) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 256
    vector[hash] = (vector[hash] ?? 0) + 1
  }
  return vector
}

const client = scriptedClient(({ index }) => `Answer number ${index + 1}.`)
const middleware = cache({ semantic: { embed, threshold: 0.75 } })
const agent = new Agent({ client, middleware })

async function ask(question: string): Promise<boolean> {
  const { text, metadata } = await agent.run(question)
  const { hit, similarity } = metadata['cache'] as CacheInfo
  console.log(hit ? 'known' : 'new  ', similarity?.toFixed(2) ?? '    ', question, '→', text)
  return hit
}

const hits = [
  await ask('What was the population of France in 2019?'),
  await ask('Tell me, what was the population of France in 2019?'),
  await ask('What was the population of France in 2020?'),
  await ask('What was the population of Spain in 2019?'),
]

assert.deepEqual(hits, [false, true, false, false])
assert.equal(client.requests.length, 3)

// Calls over a limit wait in a queue, or are rejected with the data for a 429 response.
import assert from 'node:assert/strict'
import { Agent, LamellaError } from '@lamella/core'
import type { RateLimitError } from '@lamella/middleware-rate-limit'
import { rateLimit } from '@lamella/middleware-rate-limit'
import { scriptedClient, testClock } from '@lamella/testing'

const clock = testClock() // replaces the system's clock, so that the example does not wait
const answered: string[] = []
const client = scriptedClient(({ messages }) => {
  const [content] = messages[0]?.contents ?? []
  if (content?.type === 'text') answered.push(`${clock.now() / 1000} s: ${content.text}`)
  return 'Hello!'
})

// The provider's limit: each model call waits until it fits.
const perMinute = rateLimit({
  limits: [
    { unit: 'requests', limit: 2, windowMs: 60_000 },
    { unit: 'totalTokens', limit: 90_000, windowMs: 60_000 },
  ],
  maxWaitMs: 5 * 60_000,
  clock,
})
// A limit for users: requests that exceed it are rejected.
const perUser = rateLimit({
  name: 'per-user',
  level: 'agent',
  limits: [{ unit: 'requests', limit: 3, windowMs: 60_000 }],
  key: ({ run }) => String(run.data),
  onLimit: 'reject',
  clock,
})
const agent = new Agent({ client, middleware: [perUser, perMinute] })

const ask = (input: string) => agent.run(input, { data: 'ann' })
const waiting = Promise.all([ask('one'), ask('two'), ask('three')])
const tooMany = ask('four').catch((error: unknown) => error)
await clock.advance(60_000)
await waiting

console.log(answered.join('\n'))
assert.deepEqual(answered, ['0 s: one', '0 s: two', '60 s: three'])

const error = await tooMany
assert.ok(LamellaError.is(error, 'rate_limited'))
console.log((error as RateLimitError).headers())
assert.equal((error as RateLimitError).headers()['retry-after'], '60')

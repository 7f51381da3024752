// The same question again is answered immediately and at no cost, also when streamed or asked concurrently.
import assert from 'node:assert/strict'
import { Agent } from '@lamella/core'
import type { CacheInfo } from '@lamella/middleware-cache'
import { cache } from '@lamella/middleware-cache'
import { scriptedClient } from '@lamella/testing'

const client = scriptedClient(({ index }) => `Answer number ${index + 1}.`)
const agent = new Agent({
  client,
  middleware: cache({
    ttlMs: 60_000,
    scope: 'tenant', // one tenant's answers are no other's
  }),
})
const ask = (tenant: string) => agent.run('What is new?', { tenant })

const first = await ask('acme')
const second = await ask('acme')
const info = second.metadata['cache'] as CacheInfo
console.log(second.text, 'saved', info.savedUsage?.totalTokens, 'tokens')

let streamed = ''
const stream = agent.run('What is new?', { tenant: 'acme', stream: true })
for await (const piece of stream.text()) streamed += piece

const other = await ask('globex')

// A hundred concurrent requests make one call.
const many = await Promise.all(Array.from({ length: 100 }, () => ask('initech')))

// A call may bypass the cache, or refresh it.
const fresh = await agent.run('What is new?', { tenant: 'acme', options: { cache: 'reload' } })

assert.equal(second.text, first.text)
assert.equal(streamed, first.text)
assert.equal(info.hit, true)
assert.equal(second.usage.totalTokens, undefined)
assert.notEqual(other.text, first.text)
assert.equal(new Set(many.map(({ text }) => text)).size, 1)
assert.equal(fresh.text, 'Answer number 4.')
assert.equal(client.requests.length, 4)

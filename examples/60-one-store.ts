// One store: sessions, a budget and rate limits in one file, which the processes of a machine share.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, LamellaError } from '@lamella/core'
import { sessions } from '@lamella/store'
import { budget } from '@lamella/middleware-budget'
import { rateLimit } from '@lamella/middleware-rate-limit'
import { sqliteStore } from '@lamella/store-sqlite'
import { scriptedClient } from '@lamella/testing'

const folder = mkdtempSync(join(tmpdir(), 'lamella-'))

/** Starts the process. Another store, such as `redisStore(url)`, is the only line to change. */
function start() {
  const store = sqliteStore(join(folder, 'app.db'))
  const agent = new Agent({
    client: scriptedClient(() => 'Hello!'),
    store,
    middleware: [
      budget({ scope: 'tenant', limits: { modelCalls: 3 }, window: 'day' }),
      rateLimit({ limits: [{ unit: 'concurrency', limit: 2 }] }),
    ],
  })
  return { agent, store, chats: sessions(store) }
}

const owner = { tenant: 'acme', principal: 'ada' }
const [one, two] = [start(), start()]

const first = await one.chats.open('chat-1', owner)
const second = await two.chats.open('chat-1', owner)
await one.agent.run('I am allergic to nuts.', { session: first, tenant: 'acme' })
await two.agent.run('Order a cake.', { session: second, tenant: 'acme' })
await one.chats.save(first)
const conflict = await two.chats.save(second).catch((error: unknown) => error)
console.log(`the second save: ${LamellaError.is(conflict) && conflict.code}`)

// A run loads and saves a session that is passed by reference.
const session = two.chats.at('chat-1', owner)
const third = await two.agent.run('Order a cake.', { session, tenant: 'acme' })
const fourth = await one.agent.run('And a tea.', { tenant: 'acme' })
console.log(`the third run: ${third.status}, the fourth: ${fourth.status}`)

const page = await one.chats.list(owner)
console.log(`sessions of Ada: ${page.sessions.map(({ id }) => id).join(', ')}`)

assert.ok(LamellaError.is(conflict, 'session_conflict'))
assert.equal(fourth.status, 'budget_exhausted')
assert.equal((await one.chats.load('chat-1', owner))?.messages.length, 4)
await Promise.all([one.store.close(), two.store.close()])
rmSync(folder, { recursive: true })

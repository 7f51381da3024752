// A store in PostgreSQL: the first process creates the tables, and two requests continue a conversation at the
// same time without losing either. Needs a PostgreSQL, at POSTGRES_URL or on this machine.
import assert from 'node:assert/strict'
import { Agent } from '@lamella/core'
import { sessions } from '@lamella/store'
import { postgresStore } from '@lamella/store-postgres'
import { scriptedClient } from '@lamella/testing'
import { Pool } from 'pg'

const url = process.env['POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test'
const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 2000 })
const hasPostgres = await pool.query('SELECT 1').then(
  () => true,
  () => false,
)
if (!hasPostgres) {
  assert.notEqual(process.env['CI'], 'true', 'there is no PostgreSQL')
  console.log('SKIPPED: there is no PostgreSQL; set POSTGRES_URL')
  process.exit(0)
}

const schema = `lamella_example_${process.pid}`
const stores = [postgresStore(pool, { schema }), postgresStore(pool, { schema })]
const agent = new Agent({ client: scriptedClient(() => 'Noted.') })
const owner = { tenant: 'acme', principal: 'ada' }

const requests = ['I am allergic to nuts.', 'Order a cake.'].map(async (text, index) => {
  const chats = sessions(stores[index]!, { onConflict: 'merge' })
  const session = await chats.open('chat-1', owner)
  await agent.run(text, { session })
  await chats.save(session)
})
await Promise.all(requests)

const kept = await sessions(stores[0]!).load('chat-1', owner)
const said = kept?.messages.filter(({ role }) => role === 'user') ?? []
for (const { contents } of said) console.log(contents[0]?.type === 'text' && contents[0].text)

assert.equal(said.length, 2)
assert.equal(await sessions(stores[0]!).load('chat-1', { ...owner, tenant: 'other' }), undefined)
await pool.query(`DROP SCHEMA ${schema} CASCADE`)
await pool.end()

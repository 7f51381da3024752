import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { Keyv } from 'keyv'
import { Pool } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import type { KeyValueStore, Store } from '../../packages/core/src/index.ts'
import {
  aesCipher,
  encryptedStore,
  sessions,
  storeNamespace,
} from '../../packages/store/src/index.ts'
import { LamellaError, memoryStore, message } from '../../packages/core/src/index.ts'
import { keyvStore } from '../../packages/middleware-cache/src/index.ts'
import { postgresStore } from '../../packages/store-postgres/src/index.ts'
import { redisStore } from '../../packages/store-redis/src/index.ts'
import { sqliteStore } from '../../packages/store-sqlite/src/index.ts'
import { hasPostgres, postgresUrl } from '../support/real-postgres.ts'
import { hasRedis, redisUrl } from '../support/real-redis.ts'

// What all stores have in common beside the contract: encryption at rest, namespaces with tenants, sessions,
// sizes, expiry by the real clock, health and close.

const folder = mkdtempSync(join(tmpdir(), 'lamella-parts-'))
const own = `parts_${crypto.randomUUID().replaceAll('-', '')}`
const redis = hasRedis ? new Redis(redisUrl) : undefined
const pool = hasPostgres ? new Pool({ connectionString: postgresUrl, max: 2 }) : undefined
afterAll(async () => {
  rmSync(folder, { recursive: true })
  const keys = (await redis?.keys(`{${own}*`)) ?? []
  if (keys.length > 0) await redis!.del(keys)
  redis?.disconnect()
  await pool?.query(`DROP SCHEMA IF EXISTS ${own} CASCADE`)
  await pool?.end()
})

type Closable = { readonly [Name in 'health' | 'close']?: Store[Name] }
let made = 0
const kinds: [string, (options?: { maxValueBytes: number }) => KeyValueStore & Closable][] = [
  ['memory', (options) => memoryStore(options && { maxBytes: options.maxValueBytes })],
  ['Keyv', () => keyvStore(new Keyv())],
  ['SQLite', (options) => sqliteStore(join(folder, `${++made}.db`), options)],
]
const named = () => ({ namespace: `${own}-${++made}` })
if (hasRedis) kinds.push(['Redis', (options) => redisStore(redisUrl, { ...named(), ...options })])
if (hasPostgres) {
  const make = (options?: object) =>
    postgresStore(postgresUrl, { ...named(), schema: own, ...options })
  kinds.push(['PostgreSQL', make])
}

describe.each(kinds)('a store in %s', (kind, make) => {
  test('encrypts values at rest, and compares them all the same', async () => {
    const store = make()
    const sealed = encryptedStore(store, aesCipher(new Uint8Array(32).fill(7)))

    await sealed.set('note', { text: 'only for us' })
    const swapped = [
      await sealed.compareAndSet('note', { text: 'other' }, 'wrong'),
      await sealed.compareAndSet('note', { text: 'only for us' }, { text: 'still for us' }),
    ]

    expect(swapped).toEqual([false, true])
    expect(await sealed.get('note')).toEqual({ text: 'still for us' })
    expect(JSON.stringify(await store.get('note'))).not.toContain('for us')
    await store.set('note', 'not encrypted')
    await expect(sealed.get('note')).rejects.toMatchObject({ code: 'store_invalid' })
    await store.close?.()
  })

  test('keeps tenants apart, whatever their names and ids', async () => {
    const store = make()
    const tenants = ['a', 'a:b', '@', '', 'a@b:', undefined]
    for (const tenant of tenants) {
      await storeNamespace(store, { name: 'n', tenant }).set('b:1', `of ${tenant}`)
      const chats = sessions(store)
      const session = await chats.open('chat', { tenant })
      session.messages = [message('user', `of ${tenant}`)]
      await chats.save(session)
    }

    for (const tenant of tenants) {
      const part = storeNamespace(store, { name: 'n', tenant })
      expect(await part.get('b:1')).toBe(`of ${tenant}`)
      const session = await sessions(store).load('chat', { tenant })
      expect(session?.messages[0]?.contents).toMatchObject([{ text: `of ${tenant}` }])
    }
    await store.close?.()
  })

  test('forgets what has expired, by the clock of the database', async () => {
    const store = make()
    await store.set('short', 1, { ttlMs: 30 })
    await store.set('long', 1, { ttlMs: 60_000 })

    await expect.poll(() => store.get('short')).toBeUndefined()
    expect(await store.get('long')).toBe(1)
    await store.close?.()
  })

  test.skipIf(kind === 'Keyv')('keeps nothing that is larger than its limit', async () => {
    const store = make({ maxValueBytes: 1000 })
    await store.set('fits', 'x'.repeat(200))

    const large = await store.set('large', 'x'.repeat(2000)).catch((error: unknown) => error)

    // Memory makes room in place of a rejection: it is a cache of one process.
    const code = large instanceof LamellaError ? large.code : 'none'
    expect(code).toBe(kind === 'memory' ? 'none' : 'store_limit')
    expect(await store.get('large')).toBeUndefined()
    expect(await store.get('fits')).toHaveLength(200)
    await store.close?.()
  })

  test.skipIf(kind === 'Keyv' || kind === 'memory')(
    'says that it is well, until it is closed',
    async () => {
      const store = make()

      await expect(store.health!()).resolves.toBeUndefined()
      await store.close!()
      await store.close!()

      await expect(store.health!()).rejects.toThrow(/closed|finalized|end on the pool/)
      await expect(store.get('key')).rejects.toThrow(/closed|finalized|end on the pool/)
    },
  )
})

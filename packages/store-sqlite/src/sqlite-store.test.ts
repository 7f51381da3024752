import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describeContract, storeContract, testClock } from '@lamella/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { sqliteStore } from './index.ts'

const folder = mkdtempSync(join(tmpdir(), 'lamella-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const newPath = (): string => join(folder, `${++files}.db`)

describeContract(
  storeContract({
    name: 'a SQLite store',
    create: () => {
      const path = newPath()
      const clock = testClock()
      const stores = [sqliteStore(path, { clock })]
      return {
        store: stores[0]!,
        advance: (ms) => clock.advance(ms),
        again: () => {
          stores.push(sqliteStore(path, { clock }))
          return stores.at(-1)!
        },
        corrupt: (key) => {
          const database = new DatabaseSync(path)
          database.exec("UPDATE lamella_entries SET text = 'not { JSON', number = NULL")
          expect(database.prepare('SELECT key FROM lamella_entries').all()).toEqual([
            { key: `lamella:${key}` },
          ])
          database.close()
        },
        close: async () => {
          for (const store of stores) await store.close()
        },
      }
    },
  }),
  { describe, it },
)

describe('a SQLite store', () => {
  it('keeps its entries from one process to the next', async () => {
    const path = newPath()
    const before = sqliteStore(path)
    await before.set('session', { messages: ['Hello'] })
    await before.close()

    const after = sqliteStore(path)

    expect(await after.get('session')).toEqual({ messages: ['Hello'] })
    await after.close()
  })

  it('keeps namespaces apart', async () => {
    const path = newPath()
    const [one, two] = [
      sqliteStore(path, { namespace: 'a' }),
      sqliteStore(path, { namespace: 'a:b' }),
    ]
    await one.set('key', 1)
    await one.set('b:key', 1)

    expect(await two.get('key')).toBeUndefined()
    await Promise.all([one.close(), two.close()])
  })

  it('rejects values and keys that are too large, without showing them', async () => {
    const store = sqliteStore(':memory:', { maxValueBytes: 20 })

    const large = store.set('secret', 'ü'.repeat(11))

    await expect(large).rejects.toMatchObject({ code: 'store_limit' })
    await expect(large).rejects.not.toThrow('secret')
    await expect(store.set('ü'.repeat(600), 1)).rejects.toMatchObject({ code: 'store_limit' })
    await expect(store.set('a\0b', 1)).rejects.toThrow('without U+0000')
    await expect(store.set('fits', 'ü'.repeat(9))).resolves.toBeUndefined()
    await store.close()
  })

  it('removes what has expired from its file', async () => {
    const path = newPath()
    const clock = testClock()
    const store = sqliteStore(path, { clock })
    for (let entry = 0; entry < 50; entry++) await store.set(`key ${entry}`, entry, { ttlMs: 10 })
    await store.lists.add('list', 'item', 1, { ttlMs: 10 })
    const window = { kind: 'sliding-window', limit: 9, windowMs: 10, amount: 1 } as const
    await store.limits.take('call', [{ key: 'limit', ...window }])
    for (let step = 0; step < 2; step++) {
      await clock.advance(700_000)
      await store.set('last', step)
    }

    await store.close()

    const database = new DatabaseSync(path)
    const tables = ['entries', 'items', 'lists', 'takes', 'limits']
    const rows = tables.map(
      (table) => database.prepare(`SELECT count(*) AS rows FROM lamella_${table}`).get()!['rows'],
    )
    database.close()
    expect(rows).toEqual([1, 0, 0, 0, 0])
  })

  it('rejects in time while another process holds the file, and works again afterwards', async () => {
    const path = newPath()
    const store = sqliteStore(path, { busyTimeoutMs: 20 })
    await store.set('key', 1)
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    const claim = { kind: 'concurrency', key: 'c', limit: 1, windowMs: 0, amount: 1 } as const

    const settled = await Promise.allSettled([
      store.set('key', 2),
      store.compareAndSet('claim', undefined, 1),
      store.increment('sum', 1),
      store.limits.take('call', [claim]),
      store.lists.add('list', 'item', 1),
    ])
    const read = await store.get('key')
    other.exec('ROLLBACK')
    other.close()

    const locked = { status: 'rejected', reason: { code: 'ERR_SQLITE_ERROR', errcode: 5 } }
    expect(settled).toMatchObject(settled.map(() => locked))
    expect(read).toBe(1)
    expect(await store.increment('sum', 1)).toBe(1)
    expect((await store.limits.take('call', [claim])).granted).toBe(true)
    await store.close()
  })

  it('rejects what it cannot read of a broken file, and shows nothing of it', async () => {
    const path = newPath()
    const store = sqliteStore(path)
    for (let at = 0; at < 200; at++) await store.set(`key ${at}`, 'secret '.repeat(100))
    await store.close()
    const bytes = readFileSync(path)
    bytes.fill('garbage', 4096 * 3)
    writeFileSync(path, bytes)

    const broken = sqliteStore(path)
    const keys = Array.from({ length: 200 }, (_, at) => `key ${at}`)
    const settled = await Promise.allSettled(keys.map((key) => broken.get(key)))

    const reasons = settled.flatMap((one) =>
      one.status === 'rejected' ? [String(one.reason)] : [],
    )
    expect(reasons.length).toBeGreaterThan(0)
    expect(reasons.join()).not.toContain('secret')
    await broken.close()
  })

  it('is not made of a file of something else, and leaves that as it was', () => {
    const path = newPath()
    writeFileSync(path, 'not a database '.repeat(100))

    expect(() => sqliteStore(path)).toThrow('file is not a database')
    expect(readFileSync(path, 'utf8')).toBe('not a database '.repeat(100))
  })

  it('says when it is closed, and closes twice', async () => {
    const store = sqliteStore(':memory:')
    await store.health()
    await store.close()
    await store.close()

    await expect(store.health()).rejects.toThrow('finalized')
    await expect(store.get('key')).rejects.toThrow('finalized')
  })

  it('names a wrong option', () => {
    expect(() => sqliteStore('')).toThrow('sqliteStore: `path` must be a path')
    expect(() => sqliteStore(':memory:', { leaseMs: 1 })).toThrow('`leaseMs` must be')
  })
})

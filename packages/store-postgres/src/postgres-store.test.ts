import { whenStored } from '@lamella/store'
import { describeContract, storeContract, testClock } from '@lamella/testing'
import { FaultProxy } from '@lamella/testing/fault-proxy'
import { Pool } from 'pg'
import { afterAll, expect, it } from 'vitest'
import {
  describeWithPostgres,
  hasPostgres,
  postgresUrl,
} from '../../../tests/support/real-postgres.ts'
import { postgresMigration, postgresStore } from './index.ts'

const pool = hasPostgres ? new Pool({ connectionString: postgresUrl, max: 4 }) : undefined
const schema = `lamella_test_${crypto.randomUUID().replaceAll('-', '')}`
let made = 0
const newNamespace = (): string => `test-${++made}`

afterAll(async () => {
  await pool?.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await pool?.query(`DROP SCHEMA IF EXISTS ${schema}_own CASCADE`)
  await pool?.end()
})

const suite = storeContract({
  name: 'a PostgreSQL store',
  create: async () => {
    const namespace = newNamespace()
    const clock = testClock()
    const { hostname, port } = new URL(postgresUrl)
    const proxy = await FaultProxy.start({ host: hostname, port: Number(port || 5432) })
    const url = new URL(postgresUrl)
    url.host = `127.0.0.1:${proxy.port}`
    const shared = { namespace, clock, schema }
    const store = postgresStore(url.href, { ...shared, timeoutMs: 5000 })
    return {
      store,
      settleMs: 6500,
      advance: (ms) => clock.advance(ms),
      again: () => postgresStore(pool!, shared),
      fail: (fault) => void (proxy.fault = fault),
      corrupt: async (key) => {
        const table = `${schema}.lamella_entries`
        const sql = `UPDATE ${table} SET text = 'not { JSON', number = NULL WHERE key = $1`
        expect((await pool!.query(sql, [`${namespace}:${key}`])).rowCount).toBe(1)
      },
      close: async () => {
        await store.close()
        await proxy.close()
      },
    }
  },
})

describeWithPostgres('PostgreSQL', () => {
  describeContract(suite, { describe: (_, body) => body(), it: it as never })

  it('leaves a pool that others use open, and keeps namespaces apart', async () => {
    const namespace = newNamespace()
    const [one, two] = [namespace, `${namespace}:b`].map((name) =>
      postgresStore(pool!, { namespace: name, schema }),
    )
    await one!.set('key', 1)
    await one!.set('b:key', 1)

    await one!.close()

    expect(await one!.get('key')).toBe(1)
    expect(await two!.get('key')).toBeUndefined()
  })

  it('uses the clock of the database', async () => {
    const store = postgresStore(pool!, { namespace: newNamespace(), schema })
    await store.set('day', 1, { ttlMs: 86_400_000 })
    await store.set('gone', 1, { ttlMs: 1 })
    await pool!.query('SELECT pg_sleep(0.01)')

    expect([await store.get('day'), await store.get('gone')]).toEqual([1, undefined])
  })

  it('makes its tables once, whoever comes first, and again without harm', async () => {
    const own = `${schema}_own`
    const stores = Array.from({ length: 6 }, () => postgresStore(pool!, { schema: own }))
    await Promise.all(stores.map((store) => store.increment('n', 1)))
    await pool!.query(postgresMigration(own))
    const rest = postgresStore(pool!, { schema: own, migrate: false })

    expect(await rest.get('n')).toBe(6)
  })

  it('without its tables, says so', async () => {
    const store = postgresStore(pool!, { schema: 'nowhere', migrate: false })

    await expect(store.health()).rejects.toThrow('nowhere.lamella_entries')
  })

  it('keeps its only connection for reading and writing', async () => {
    const options = { namespace: newNamespace(), schema, maxConnections: 1 }
    const store = postgresStore(postgresUrl, options)
    const answer = whenStored(store, {
      channel: 'answers',
      read: () => store.get('answer'),
      pollMs: 5,
    })

    await store.set('answer', 42)

    expect(await answer).toBe(42)
    await store.close()
  })

  it('rejects values and keys that are too large', async () => {
    const store = postgresStore(pool!, { namespace: newNamespace(), schema, maxValueBytes: 20 })

    await expect(store.set('key', 'x'.repeat(19))).rejects.toMatchObject({ code: 'store_limit' })
    await expect(store.set('x'.repeat(1025), 1)).rejects.toMatchObject({ code: 'store_limit' })
  })
})

it('names a wrong option, and shows no connection', () => {
  const wrong = { url: 'postgres://user:password@host' } as never

  expect(() => postgresStore(wrong)).toThrow('`connection` must be a URL or a pool of pg')
  expect(() => postgresStore(wrong)).not.toThrow('password')
  expect(() => postgresStore('postgres://host', { schema: 'a; drop' })).toThrow('`schema` must be')
})

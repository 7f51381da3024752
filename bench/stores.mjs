// Operations per second of each store beside a plain client of the same database, in turns, with 32 at a time.
//   node --conditions=@lamella/source bench/stores.mjs [sqlite] [redis] [postgres]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { postgresStore } from '../packages/store-postgres/src/index.ts'
import { redisStore } from '../packages/store-redis/src/index.ts'
import { sqliteStore } from '../packages/store-sqlite/src/index.ts'

const value = { text: 'x'.repeat(1000) }
const json = JSON.stringify(value)
const [atOnce, turns, ms] = [32, 7, 400]
const own = `bench_${process.pid}`

const databases = {
  async sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'lamella-bench-'))
    const store = sqliteStore(join(folder, 'ours.db'))
    const plain = new DatabaseSync(join(folder, 'plain.db'))
    plain.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    plain.exec('CREATE TABLE entries (key TEXT PRIMARY KEY, json TEXT, number REAL)')
    const read = plain.prepare('SELECT json FROM entries WHERE key = ?')
    const write = plain.prepare(
      'INSERT INTO entries (key, json) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET json = excluded.json',
    )
    const add = plain.prepare(
      'INSERT INTO entries (key, number) VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET number = number + 1 RETURNING number',
    )
    return {
      store,
      plain: {
        get: async (key) => JSON.parse(read.get(key).json),
        set: async (key) => write.run(key, json),
        increment: async (key) => add.get(key).number,
      },
      async close() {
        await store.close()
        plain.close()
        rmSync(folder, { recursive: true })
      },
    }
  },
  async redis() {
    const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379')
    return {
      store: redisStore(redis, { namespace: own }),
      plain: {
        get: async (key) => JSON.parse(await redis.get(`{${own}}${key}`)),
        set: (key) => redis.set(`{${own}}${key}`, json),
        increment: (key) => redis.incr(`{${own}}${key}`),
      },
      async close() {
        const keys = await redis.keys(`{${own}}*`)
        if (keys.length > 0) await redis.del(keys)
        redis.disconnect()
      },
    }
  },
  async postgres() {
    const url = process.env.POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/test'
    const pool = new Pool({ connectionString: url, max: 10 })
    await pool.query(`CREATE SCHEMA ${own}`)
    await pool.query(`CREATE TABLE ${own}.plain (key TEXT PRIMARY KEY, json TEXT, number FLOAT8)`)
    const ask = async (name, text, values) => (await pool.query({ name, text, values })).rows[0]
    return {
      store: postgresStore(pool, { schema: own }),
      plain: {
        get: async (key) =>
          JSON.parse((await ask('g', `SELECT json FROM ${own}.plain WHERE key = $1`, [key])).json),
        set: (key) =>
          ask(
            's',
            `INSERT INTO ${own}.plain (key, json) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET json = $2`,
            [key, json],
          ),
        increment: (key) =>
          ask(
            'i',
            `INSERT INTO ${own}.plain (key, number) VALUES ($1, 1) ON CONFLICT (key) DO UPDATE SET number = plain.number + 1 RETURNING number`,
            [key],
          ),
      },
      async close() {
        await pool.query(`DROP SCHEMA ${own} CASCADE`)
        await pool.end()
      },
    }
  },
}

/** Operations per second. */
async function measure(operation) {
  const end = performance.now() + ms
  let done = 0
  const start = performance.now()
  const work = async (lane) => {
    while (performance.now() < end) {
      await operation(lane)
      done++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, (_, lane) => work(lane)))
  return (done / (performance.now() - start)) * 1000
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
const shown = (number) => String(Math.round(number / 100) * 100).padStart(8)

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(databases)
console.log('store     operation        ours    plain  ratio')
for (const name of names) {
  const { store, plain, close } = await databases[name]()
  const claim = { key: 'limit', kind: 'sliding-window', limit: 1e9, windowMs: 1000, amount: 1 }
  let calls = 0
  let version = 0
  const operations = {
    set: [(lane) => store.set(`key ${lane}`, value), (lane) => plain.set(`key ${lane}`)],
    get: [(lane) => store.get(`key ${lane}`), (lane) => plain.get(`key ${lane}`)],
    increment: [(lane) => store.increment(`n ${lane}`, 1), (lane) => plain.increment(`n ${lane}`)],
    compareAndSet: [(lane) => store.compareAndSet(`c ${lane} ${version++}`, undefined, 1)],
    'limits.take': [() => store.limits.take(`call ${calls++}`, [claim])],
  }
  for (const [operation, sides] of Object.entries(operations)) {
    for (const side of sides) await measure(side)
    const results = sides.map(() => [])
    for (let turn = 0; turn < turns; turn++) {
      for (const [at, side] of sides.entries()) results[at].push(await measure(side))
    }
    const [ours, theirs] = results.map(median)
    const ratio = theirs && median(results[0].map((one, at) => one / results[1][at])).toFixed(2)
    const rest = theirs === undefined ? '' : `${shown(theirs)}  ${ratio}`
    console.log(`${name.padEnd(10)}${operation.padEnd(14)}${shown(ours)} ${rest}`)
  }
  await close()
}

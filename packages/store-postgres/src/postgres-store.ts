import type { Store, WriteOptions } from '@lamella/core'
import {
  checkOptions,
  longestTimerMs,
  systemClock,
  withinStoreTime,
  wrongOption,
} from '@lamella/core/authoring'
import { storeEntries, storePrefix } from '@lamella/store'
import { Pool } from 'pg'
import { Database } from './database.ts'
import { postgresLimits } from './postgres-limits.ts'
import { postgresLists } from './postgres-lists.ts'
import { postgresSignals } from './postgres-signals.ts'
import type { PostgresStoreOptions } from './postgres-store-options.ts'

/**
 * Creates a store in PostgreSQL 13 or newer, shared by all processes. Accepts a URL, or a shared
 * pool of `pg`; `close()` leaves a shared pool open.
 * @example
 * const store = postgresStore('postgres://127.0.0.1/app')
 * await store.set('greeting', { text: 'Hello' }, { ttlMs: 60_000 })
 * await store.compareAndSet('claim', undefined, 'worker-1') // true, once in all processes
 * await store.close()
 * @throws TypeError or RangeError that names the option and the value
 */
export function postgresStore(
  connection: string | Pool,
  options: PostgresStoreOptions = {},
): Store {
  const owner = 'postgresStore'
  checkOptions(owner, options, {
    namespace: 'string?',
    schema: 'string?',
    migrate: [true, false],
    maxConnections: 1,
    maxValueBytes: 1,
    timeoutMs: 'ms',
    leaseMs: 100,
    pollMs: 1,
    clock: 'any',
  })
  const { namespace = 'lamella', schema = 'public', migrate = true, maxConnections = 10 } = options
  const { maxValueBytes = 16 * 2 ** 20, timeoutMs = 5000, leaseMs = 30_000, pollMs = 100 } = options
  const isOwn = typeof connection === 'string'
  if (!isOwn && typeof connection?.connect !== 'function') {
    // A wrong connection may hold a password.
    throw wrongOption(owner, 'connection', 'a URL or a pool of pg', connection, true)
  }
  const entries = storeEntries({ owner, maxValueBytes })
  const pool = isOwn
    ? connect(connection, maxConnections, Math.min(timeoutMs, longestTimerMs))
    : connection
  const database = new Database(pool, { schema, migrates: migrate })
  const table = database.table('entries')
  const prefix = storePrefix({ name: namespace })
  const keyOf = (key: string): string => prefix + entries.key(key)
  const now = (): number | null => options.clock?.now() ?? null
  const inTime = <T>(work: Promise<T>): Promise<T> =>
    withinStoreTime(work, { clock: systemClock, timeoutMs })
  const ttlOf = (written: WriteOptions | undefined): number | null => entries.ttl(written) ?? null
  let nextSweep = 0

  /** Removes what has expired, some of it at a time. Nobody waits for it. */
  const sweep = (): void => {
    const at = options.clock?.now() ?? Date.now()
    if (at < nextSweep) return
    nextSweep = at + sweepMs
    for (const sql of sweepsOf(database)) database.query(sql, [now()]).catch(() => {})
  }

  // A listener would take the only connection of a pool.
  const signals = pool.options?.max === 1 ? undefined : postgresSignals(pool, { keyOf, inTime })

  return {
    signals,
    async get(key) {
      const sql = `SELECT text, number FROM ${table}
        WHERE key = $1 AND (expires_at IS NULL OR expires_at > ${nowSql(2)})`
      type Row = { text: string | null; number: number | null }
      const [row] = await inTime(database.query<Row>(sql, [keyOf(key), now()]))
      return row && entries.read(row.text, row.number)
    },
    async set(key, value, written) {
      const { text, number } = entries.value(value)
      const sql = `INSERT INTO ${table} VALUES ($1, $2, $3, ${nowSql(4)} + $5::float8)
        ON CONFLICT (key) DO UPDATE
        SET text = excluded.text, number = excluded.number, expires_at = excluded.expires_at`
      const values = [keyOf(key), text, number, now(), ttlOf(written)]
      await inTime(database.query(sql, values))
      sweep()
    },
    async delete(key) {
      await inTime(database.query(`DELETE FROM ${table} WHERE key = $1`, [keyOf(key)]))
    },
    async compareAndSet(key, expected, value, written) {
      const { text, number } = entries.value(value)
      const before = entries.expected(expected)
      const values = [keyOf(key), text, number, now(), ttlOf(written)]
      const claim = `INSERT INTO ${table} VALUES ($1, $2, $3, ${nowSql(4)} + $5::float8)
        ON CONFLICT (key) DO UPDATE
        SET text = excluded.text, number = excluded.number, expires_at = excluded.expires_at
        WHERE lamella_entries.expires_at <= ${nowSql(4)} RETURNING 1`
      const swap = `UPDATE ${table}
        SET text = $2, number = $3, expires_at = ${nowSql(4)} + $5::float8
        WHERE key = $1 AND (expires_at IS NULL OR expires_at > ${nowSql(4)})
          AND text IS NOT DISTINCT FROM $6 AND number IS NOT DISTINCT FROM $7::float8 RETURNING 1`
      const writing =
        before === undefined
          ? database.query(claim, values)
          : database.query(swap, [...values, before.text, before.number])
      const rows = await inTime(writing)
      sweep()
      return rows.length === 1
    },
    async increment(key, by, written) {
      const isOver = `lamella_entries.expires_at <= ${nowSql(3)}`
      const sql = `INSERT INTO ${table} VALUES ($1, NULL, $2::float8, ${nowSql(3)} + $4::float8)
        ON CONFLICT (key) DO UPDATE SET text = NULL,
          number = CASE WHEN ${isOver} THEN $2::float8 ELSE lamella_entries.number + $2::float8 END,
          expires_at = CASE WHEN ${isOver} THEN excluded.expires_at
            ELSE lamella_entries.expires_at END
        WHERE lamella_entries.text IS NULL OR ${isOver} RETURNING number`
      const values = [keyOf(key), entries.addend(by), now(), ttlOf(written)]
      const [row] = await inTime(database.query<{ number: number }>(sql, values))
      sweep()
      if (row === undefined) throw new TypeError(`${owner}: \`key\` must be that of a number`)
      return row.number
    },
    limits: postgresLimits(database, { keyOf, nowSql, now, inTime, leaseMs, pollMs }),
    lists: postgresLists(database, { keyOf, nowSql, now, inTime }),
    async health() {
      await inTime(database.query(`SELECT 1 FROM ${table} LIMIT 1`, []))
    },
    async close() {
      signals?.close()
      if (isOwn && !pool.ended) await inTime(pool.end())
    },
  }
}

function connect(url: string, max: number, timeoutMs: number): Pool {
  const pool = new Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: timeoutMs,
    // A connection that does not answer is closed, and not given to the next caller.
    query_timeout: timeoutMs,
    allowExitOnIdle: true,
  })
  // Whoever calls the store learns of it: without a listener it would end the process.
  pool.on('error', () => {})
  return pool
}

/** The time in milliseconds: that of the parameter, or that of the database. */
function nowSql(parameter: number): string {
  return `coalesce($${parameter}::float8, extract(epoch FROM clock_timestamp())::float8 * 1000)`
}

function sweepsOf(database: Database): readonly string[] {
  const [entries, takes, limits, items, lists] = [
    'entries',
    'takes',
    'limits',
    'items',
    'lists',
  ].map((name) => database.table(name))
  return [
    `DELETE FROM ${entries} WHERE key IN
      (SELECT key FROM ${entries} WHERE expires_at <= ${nowSql(1)} LIMIT 1000)
      AND expires_at <= ${nowSql(1)}`,
    `DELETE FROM ${takes} WHERE key IN
      (SELECT key FROM ${limits} WHERE ends_at <= ${nowSql(1)} LIMIT 100)
      AND at <= ${nowSql(1)} - 600000`,
    `DELETE FROM ${limits} WHERE ends_at <= ${nowSql(1)} - 600000 AND NOT EXISTS
      (SELECT 1 FROM ${takes} WHERE ${takes}.key = ${limits}.key)`,
    `DELETE FROM ${items} WHERE list IN
      (SELECT list FROM ${lists} WHERE expires_at <= ${nowSql(1)} - 600000 LIMIT 100)`,
    `DELETE FROM ${lists} WHERE expires_at <= ${nowSql(1)} - 600000 AND NOT EXISTS
      (SELECT 1 FROM ${items} WHERE ${items}.list = ${lists}.list)`,
  ]
}

const sweepMs = 60_000

import type { DatabaseSync } from 'node:sqlite'
import type { Store, WriteOptions } from '@lamella/core'
import { checkOptions, longestTimerMs, wrongOption } from '@lamella/core/authoring'
import { storeEntries, storePrefix } from '@lamella/store'
import { openDatabase } from './open-database.ts'
import { sqliteLimits } from './sqlite-limits.ts'
import { sqliteLists } from './sqlite-lists.ts'
import type { SqliteStoreOptions } from './sqlite-store-options.ts'

/**
 * Creates a store in a SQLite file, which the processes of one machine may share. `:memory:` keeps
 * it in this process.
 * @example
 * const store = sqliteStore('app.db')
 * await store.set('greeting', { text: 'Hello' }, { ttlMs: 60_000 })
 * await store.compareAndSet('claim', undefined, 'worker-1') // true, once in all processes
 * await store.close()
 * @throws TypeError or RangeError that names the option and the value, or the error of SQLite
 */
export function sqliteStore(path: string, options: SqliteStoreOptions = {}): Store {
  const owner = 'sqliteStore'
  checkOptions(owner, options, {
    namespace: 'string?',
    maxValueBytes: 1,
    busyTimeoutMs: 0,
    synchronous: ['normal', 'full'],
    leaseMs: 100,
    pollMs: 1,
    clock: 'any',
  })
  if (typeof path !== 'string' || path === '') throw wrongOption(owner, 'path', 'a path', path)
  const { namespace = 'lamella', maxValueBytes = 16 * 2 ** 20, clock = Date } = options
  const { busyTimeoutMs = 5000, synchronous = 'normal', leaseMs = 30_000, pollMs = 100 } = options
  const entries = storeEntries({ owner, maxValueBytes })
  const database = openDatabase(path, {
    busyTimeoutMs: Math.min(busyTimeoutMs, longestTimerMs),
    synchronous,
  })
  const prefix = storePrefix({ name: namespace })
  const keyOf = (key: string): string => prefix + entries.key(key)
  const now = (): number => clock.now()
  const statements = statementsOf(database)
  let nextSweep = now()

  const expiryOf = (written: WriteOptions | undefined): number | null => {
    const ttlMs = entries.ttl(written)
    return ttlMs === undefined ? null : now() + ttlMs
  }

  /** Removes what has expired, some of it at a time. */
  const sweep = (): void => {
    const at = now()
    if (at < nextSweep) return
    nextSweep = at + sweepMs
    for (const statement of statements.sweeps) statement.run(at)
  }

  return {
    async get(key) {
      const row = statements.get.get(keyOf(key), now())
      return row && entries.read(row['text'] as string | null, row['number'] as number | null)
    },
    async set(key, value, written) {
      const { text, number } = entries.value(value)
      statements.set.run(keyOf(key), text, number, expiryOf(written))
      sweep()
    },
    async delete(key) {
      statements.remove.run(keyOf(key))
    },
    async compareAndSet(key, expected, value, written) {
      const next = { key: keyOf(key), ...entries.value(value), expiresAt: expiryOf(written) }
      const before = entries.expected(expected)
      sweep()
      const { changes } =
        before === undefined
          ? statements.claim.run({ ...next, now: now() })
          : statements.swap.run({
              ...next,
              oldText: before.text,
              oldNumber: before.number,
              now: now(),
            })
      return Number(changes) === 1
    },
    async increment(key, by, written) {
      const row = statements.add.get({
        key: keyOf(key),
        by: entries.addend(by),
        expiresAt: expiryOf(written),
        now: now(),
      })
      sweep()
      if (row === undefined) {
        throw new TypeError(`${owner}: \`key\` must be that of a number, and the sum finite`)
      }
      return row['number'] as number
    },
    limits: sqliteLimits(database, { keyOf, now, leaseMs, pollMs }),
    lists: sqliteLists(database, { keyOf, now }),
    async health() {
      statements.get.get('', 0)
    },
    async close() {
      if (database.isOpen) database.close()
    },
  }
}

function statementsOf(database: DatabaseSync) {
  return {
    get: database.prepare(
      `SELECT text, number FROM lamella_entries
      WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)`,
    ),
    set: database.prepare(
      `INSERT INTO lamella_entries VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
      SET text = excluded.text, number = excluded.number, expires_at = excluded.expires_at`,
    ),
    remove: database.prepare('DELETE FROM lamella_entries WHERE key = ?'),
    claim: database.prepare(
      `INSERT INTO lamella_entries VALUES (:key, :text, :number, :expiresAt)
      ON CONFLICT (key) DO UPDATE
      SET text = excluded.text, number = excluded.number, expires_at = excluded.expires_at
      WHERE lamella_entries.expires_at <= :now`,
    ),
    swap: database.prepare(
      `UPDATE lamella_entries SET text = :text, number = :number, expires_at = :expiresAt
      WHERE key = :key AND (expires_at IS NULL OR expires_at > :now)
        AND text IS :oldText AND number IS :oldNumber`,
    ),
    add: database.prepare(
      `INSERT INTO lamella_entries VALUES (:key, NULL, :by, :expiresAt)
      ON CONFLICT (key) DO UPDATE SET
        number = CASE WHEN expires_at <= :now THEN :by ELSE number + :by END,
        expires_at = CASE WHEN expires_at <= :now THEN :expiresAt ELSE expires_at END,
        text = NULL
      WHERE expires_at <= :now OR (text IS NULL AND abs(number + :by) < 9e999)
      RETURNING number`,
    ),
    sweeps: [
      `DELETE FROM lamella_entries WHERE rowid IN
        (SELECT rowid FROM lamella_entries WHERE expires_at <= ? LIMIT 1000)`,
      `DELETE FROM lamella_takes WHERE key IN
        (SELECT key FROM lamella_limits WHERE ends_at <= ?1 LIMIT 100)
        AND at <= ?1 - 600000`,
      `DELETE FROM lamella_limits WHERE key IN
        (SELECT key FROM lamella_limits WHERE ends_at <= ?1 LIMIT 1000)
        AND NOT EXISTS (SELECT 1 FROM lamella_takes WHERE lamella_takes.key = lamella_limits.key)`,
      `DELETE FROM lamella_items WHERE list IN
        (SELECT list FROM lamella_lists WHERE expires_at <= ? LIMIT 100)`,
      'DELETE FROM lamella_lists WHERE expires_at <= ?',
    ].map((sql) => database.prepare(sql)),
  }
}

const sweepMs = 60_000

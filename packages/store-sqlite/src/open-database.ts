import { DatabaseSync } from 'node:sqlite'

const schema = `
CREATE TABLE IF NOT EXISTS lamella_entries (
  key TEXT PRIMARY KEY, text TEXT, number REAL, expires_at REAL
);
CREATE INDEX IF NOT EXISTS lamella_entries_expiry ON lamella_entries (expires_at)
  WHERE expires_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS lamella_lists (list TEXT PRIMARY KEY, expires_at REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lamella_items (
  list TEXT, item TEXT, score REAL, PRIMARY KEY (list, item)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS lamella_items_order ON lamella_items (list, score, item);
CREATE TABLE IF NOT EXISTS lamella_limits (
  key TEXT PRIMARY KEY, total REAL, filled_at REAL, held REAL, held_until REAL, closed_until REAL,
  ends_at REAL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS lamella_limits_end ON lamella_limits (ends_at);
CREATE TABLE IF NOT EXISTS lamella_takes (
  key TEXT, id TEXT, at REAL, amount REAL, PRIMARY KEY (key, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS lamella_takes_order ON lamella_takes (key, at);
`

/** Opens a database and makes its tables, if they are not there. */
export function openDatabase(
  path: string,
  { busyTimeoutMs, synchronous }: { busyTimeoutMs: number; synchronous: 'normal' | 'full' },
): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs })
  const until = Date.now() + busyTimeoutMs
  for (;;) {
    try {
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
      database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`)
      return database
    } catch (error) {
      // The change to WAL does not wait for other processes by itself.
      if (!isLocked(error) || Date.now() > until) {
        database.close()
        throw error
      }
      if (database.isTransaction) database.exec('ROLLBACK')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
}

/** Runs `work` as one step, that no other process sees half of. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function isLocked(error: unknown): boolean {
  const { errcode } = error as { errcode?: number }
  // SQLITE_BUSY and SQLITE_LOCKED, in the low byte of extended codes.
  return errcode !== undefined && [5, 6].includes(errcode & 0xff)
}

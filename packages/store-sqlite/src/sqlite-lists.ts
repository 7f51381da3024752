import type { DatabaseSync } from 'node:sqlite'
import type { ListItem, StoreLists } from '@lamella/core/authoring'
import { inTransaction } from './open-database.ts'

/** Keeps lists in two tables: what is in them, and when they expire. */
export function sqliteLists(
  database: DatabaseSync,
  { keyOf, now }: { keyOf: (list: string) => string; now: () => number },
): StoreLists {
  const begin = database.prepare(
    `INSERT INTO lamella_lists VALUES (:list, :expiresAt)
    ON CONFLICT (list) DO UPDATE SET expires_at = excluded.expires_at`,
  )
  const isOver = database.prepare('SELECT 1 FROM lamella_lists WHERE list = ? AND expires_at <= ?')
  const clear = database.prepare('DELETE FROM lamella_items WHERE list = ?')
  const put = database.prepare(
    `INSERT INTO lamella_items VALUES (?, ?, ?)
    ON CONFLICT (list, item) DO UPDATE SET score = excluded.score`,
  )
  const trim = database.prepare(
    `DELETE FROM lamella_items WHERE list = :list AND item IN (
      SELECT item FROM lamella_items WHERE list = :list
      ORDER BY score DESC, item DESC LIMIT -1 OFFSET :keep)`,
  )
  const remove = database.prepare('DELETE FROM lamella_items WHERE list = ? AND item = ?')
  const first = database.prepare(
    'SELECT item, score FROM lamella_items WHERE list = ? ORDER BY score DESC, item DESC LIMIT ?',
  )
  const next = database.prepare(
    `SELECT item, score FROM lamella_items WHERE list = ? AND (score, item) < (?, ?)
    ORDER BY score DESC, item DESC LIMIT ?`,
  )

  return {
    async add(name, item, score, { ttlMs = Infinity, keep = Infinity } = {}) {
      const list = keyOf(name)
      const at = now()
      inTransaction(database, () => {
        if (isOver.get(list, at) !== undefined) clear.run(list)
        begin.run({ list, expiresAt: ttlMs === Infinity ? null : at + ttlMs })
        put.run(list, item, score)
        if (keep < Infinity) trim.run({ list, keep })
      })
    },
    async remove(name, item) {
      remove.run(keyOf(name), item)
    },
    async range(name, { limit, after }) {
      const list = keyOf(name)
      if (isOver.get(list, now()) !== undefined) return []
      const rows =
        after === undefined
          ? first.all(list, limit)
          : next.all(list, after.score, after.item, limit)
      return rows.map(({ item, score }) => ({ item, score }) as unknown as ListItem)
    },
  }
}

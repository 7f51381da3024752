import type { ListItem, StoreLists } from '@lamella/core/authoring'
import type { Database } from './database.ts'

/** Keeps lists in two tables: what is in them, and when they expire. */
export function postgresLists(
  database: Database,
  options: {
    readonly keyOf: (list: string) => string
    readonly nowSql: (parameter: number) => string
    readonly now: () => number | null
    readonly inTime: <T>(work: Promise<T>) => Promise<T>
  },
): StoreLists {
  const { keyOf, nowSql, now, inTime } = options
  const [lists, items] = [database.table('lists'), database.table('items')]

  return {
    async add(name, item, score, { ttlMs, keep } = {}) {
      const list = keyOf(name)
      const work = database.transaction(async (query) => {
        // Who adds to a list waits here for who does already.
        await query(
          `INSERT INTO ${lists} VALUES ($1, NULL)
          ON CONFLICT (list) DO UPDATE SET list = excluded.list`,
          [list],
        )
        await query(
          `DELETE FROM ${items} WHERE list = $1 AND EXISTS
            (SELECT 1 FROM ${lists} WHERE list = $1 AND expires_at <= ${nowSql(2)})`,
          [list, now()],
        )
        await query(`UPDATE ${lists} SET expires_at = ${nowSql(2)} + $3::float8 WHERE list = $1`, [
          list,
          now(),
          ttlMs ?? null,
        ])
        await query(
          `INSERT INTO ${items} VALUES ($1, $2, $3)
          ON CONFLICT (list, item) DO UPDATE SET score = excluded.score`,
          [list, item, score],
        )
        if (keep === undefined) return
        await query(
          `DELETE FROM ${items} WHERE list = $1 AND item IN (SELECT item FROM ${items}
            WHERE list = $1 ORDER BY score DESC, item DESC OFFSET $2)`,
          [list, keep],
        )
      })
      await inTime(work)
    },
    async remove(name, item) {
      const sql = `DELETE FROM ${items} WHERE list = $1 AND item = $2`
      await inTime(database.query(sql, [keyOf(name), item]))
    },
    async range(name, { limit, after }) {
      const reading = database.query<{ item: string; score: number }>(
        `SELECT item, score FROM ${items} WHERE list = $1
          AND NOT EXISTS (SELECT 1 FROM ${lists} WHERE list = $1 AND expires_at <= ${nowSql(2)})
          AND ($4::float8 IS NULL OR (score, item) < ($4::float8, $5::text COLLATE "C"))
        ORDER BY score DESC, item DESC LIMIT $3`,
        [keyOf(name), now(), limit, after?.score ?? null, after?.item ?? null],
      )
      return (await inTime(reading)).map(({ item, score }): ListItem => ({ item, score }))
    },
  }
}

import type { LimitClaim, LimitGrant, StoreLimits, LimitUsage } from '@lamella/core/authoring'
import { limitMath } from '@lamella/core/authoring'
import type { Database, RunQuery } from './database.ts'

const {
  addTake,
  emptyUsage,
  forgottenUntil,
  needsTakes,
  refreshUsage,
  remainingOf,
  restrictUsage,
  settleTake,
  usageEnds,
  waitFor,
} = limitMath

type LimitTake = Parameters<typeof settleTake>[2]

interface Loaded {
  readonly claim: LimitClaim
  readonly key: string
  readonly usage: LimitUsage
  /** Amount that this call has taken already. */
  readonly taken: LimitTake | undefined
}

interface UsageRow extends LimitUsage {
  readonly key: string
}

/** Keeps limits in two tables: the sum of each, and what single calls took. */
export function postgresLimits(
  database: Database,
  options: {
    readonly keyOf: (key: string) => string
    readonly nowSql: (parameter: number) => string
    readonly now: () => number | null
    readonly inTime: <T>(work: Promise<T>) => Promise<T>
    readonly leaseMs: number
    readonly pollMs: number
  },
): StoreLimits {
  const { keyOf, nowSql, now, inTime, leaseMs, pollMs } = options
  const [limits, takes] = [database.table('limits'), database.table('takes')]

  /** Locks limits, brings them up to date, and gives them to `work`. */
  const step = <Result>(
    id: string,
    claims: readonly LimitClaim[],
    work: (loaded: readonly Loaded[], at: number, query: RunQuery) => Result | Promise<Result>,
  ): Promise<Result> =>
    inTime(
      database.transaction(async (query) => {
        const keys = claims.map(({ key }) => keyOf(key))
        // In one order, so that no two transactions wait for each other.
        await query(
          `SELECT pg_advisory_xact_lock(hash) FROM (SELECT DISTINCT hashtextextended(key, 0) AS hash
            FROM unnest($1::text[]) AS key ORDER BY 1 OFFSET 0) AS hashes`,
          [keys],
        )
        // After the lock, so that time does not run backwards from one step to the next.
        const [clock] = await query<{ at: number }>(`SELECT ${nowSql(1)} AS at`, [now()])
        const { at } = clock!
        const untils = claims.map((claim) => forgottenUntil(claim, at, leaseMs))
        const gone = await query<{ key: string; amount: number }>(
          `DELETE FROM ${takes} USING unnest($1::text[], $2::float8[]) AS old (key, until)
          WHERE ${takes}.key = old.key AND at <= until RETURNING ${takes}.key, amount`,
          [keys, untils],
        )
        const rows = await query<UsageRow & { at: number | null; amount: number }>(
          `SELECT key, total, filled_at AS "filledAt", held, held_until AS "heldUntil",
            closed_until AS "closedUntil", own.at, own.amount
          FROM ${limits} LEFT JOIN (SELECT * FROM ${takes} WHERE id = $2) AS own USING (key)
          WHERE key = ANY ($1)`,
          [keys, id],
        )
        const loaded = claims.map((claim, index): Loaded => {
          const key = keys[index]!
          const row = rows.find((each) => each.key === key)
          const usage = row === undefined ? emptyUsage(at) : usageOf(row)
          const back = gone.filter((each) => each.key === key)
          refreshUsage(
            usage,
            claim,
            at,
            back.reduce((sum, { amount }) => sum + amount, 0),
          )
          const isTaken = row !== undefined && row.at !== null
          const taken = isTaken ? { at: row.at!, amount: row.amount } : undefined
          return { claim, key, usage, taken }
        })
        const result = await work(loaded, at, query)
        await save(query, loaded)
        return result
      }),
    )

  const save = async (query: RunQuery, loaded: readonly Loaded[]): Promise<void> => {
    const column = (read: (each: Loaded) => number | string): unknown[] => loaded.map(read)
    await query(
      `INSERT INTO ${limits} SELECT DISTINCT ON (key) * FROM unnest($1::text[], $2::float8[],
        $3::float8[], $4::float8[], $5::float8[], $6::float8[], $7::float8[])
        AS fresh (key, total, filled_at, held, held_until, closed_until, ends_at)
      ON CONFLICT (key) DO UPDATE SET total = excluded.total, filled_at = excluded.filled_at,
        held = excluded.held, held_until = excluded.held_until,
        closed_until = excluded.closed_until,
        ends_at = greatest(lamella_limits.ends_at, excluded.ends_at)`,
      [
        column(({ key }) => key),
        column(({ usage }) => usage.total),
        column(({ usage }) => usage.filledAt),
        column(({ usage }) => usage.held),
        column(({ usage }) => usage.heldUntil),
        column(({ usage }) => usage.closedUntil),
        column(({ usage, claim }) => usageEnds(usage, claim, leaseMs)),
      ],
    )
  }

  const waitOf = async (each: Loaded, at: number, query: RunQuery): Promise<number> => {
    if (each.taken !== undefined) return 0
    const order = `SELECT at, amount FROM ${takes} WHERE key = $1 ORDER BY at`
    const rows = needsTakes(each.usage, each.claim)
      ? await query<{ at: number; amount: number }>(order, [each.key])
      : []
    return waitFor(each.usage, each.claim, at, rows)
  }

  return {
    leaseMs,
    pollMs,
    take: (id, claims) =>
      step(id, claims, async (loaded, at, query): Promise<LimitGrant> => {
        const waits: number[] = []
        // oxlint-disable-next-line no-await-in-loop -- one connection does one thing at a time
        for (const each of loaded) waits.push(await waitOf(each, at, query))
        const longest = Math.max(0, ...waits)
        const fresh = longest > 0 ? [] : loaded.filter(({ taken }) => taken === undefined)
        for (const { usage, claim } of fresh) addTake(usage, claim)
        if (fresh.length > 0) {
          await query(
            `INSERT INTO ${takes}
            SELECT key, $2, $3, amount FROM unnest($1::text[], $4::float8[]) AS each (key, amount)`,
            [fresh.map(({ key }) => key), id, at, fresh.map(({ claim }) => claim.amount)],
          )
        }
        const remaining = loaded.map(({ usage, claim }) => remainingOf(usage, claim))
        return longest === 0
          ? { granted: true, remaining }
          : { granted: false, remaining, index: waits.indexOf(longest), retryAfterMs: longest }
      }),
    settle: (id, settlements) => {
      const claims = settlements.map(({ claim }) => claim)
      return step(id, claims, async (loaded, _, query) => {
        for (const [index, { usage, claim, key, taken }] of loaded.entries()) {
          if (taken === undefined) continue
          const rest = settleTake(usage, claim, taken, settlements[index]!.used)
          const [sql, values] =
            rest === undefined
              ? [`DELETE FROM ${takes} WHERE key = $1 AND id = $2`, [key, id]]
              : [
                  `UPDATE ${takes} SET amount = $3 WHERE key = $1 AND id = $2`,
                  [key, id, rest.amount],
                ]
          // oxlint-disable-next-line no-await-in-loop -- one connection does one thing at a time
          await query(sql, values)
        }
      })
    },
    restrict: (restrictions) => {
      const claims = restrictions.map(({ claim }) => claim)
      return step('', claims, (loaded, at) => {
        for (const [index, { usage }] of loaded.entries()) {
          restrictUsage(usage, restrictions[index]!, at)
        }
      })
    },
    async renew(id, claims) {
      const sql = `UPDATE ${takes} SET at = ${nowSql(3)}
        WHERE key = ANY ($1) AND id = $2 AND at > ${nowSql(3)} - $4::float8`
      await inTime(database.query(sql, [claims.map(({ key }) => keyOf(key)), id, now(), leaseMs]))
    },
  }
}

function usageOf({ total, filledAt, held, heldUntil, closedUntil }: UsageRow): LimitUsage {
  return { total, filledAt, held, heldUntil, closedUntil }
}

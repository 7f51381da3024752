import type { DatabaseSync } from 'node:sqlite'
import type { LimitClaim, LimitGrant, StoreLimits, LimitUsage } from '@lamella/core/authoring'
import { limitMath } from '@lamella/core/authoring'
import { inTransaction } from './open-database.ts'

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

/** Keeps limits in two tables: the sum of each, and what single calls took. */
export function sqliteLimits(
  database: DatabaseSync,
  options: {
    readonly keyOf: (key: string) => string
    readonly now: () => number
    readonly leaseMs: number
    readonly pollMs: number
  },
): StoreLimits {
  const { keyOf, now, leaseMs, pollMs } = options
  const usageRow = database.prepare(
    `SELECT total, filled_at AS filledAt, held, held_until AS heldUntil, closed_until AS closedUntil
    FROM lamella_limits WHERE key = ?`,
  )
  const forget = database.prepare(
    'DELETE FROM lamella_takes WHERE key = ? AND at <= ? RETURNING amount',
  )
  const save = database.prepare(
    `INSERT INTO lamella_limits
    VALUES (:key, :total, :filledAt, :held, :heldUntil, :closedUntil, :endsAt)
    ON CONFLICT (key) DO UPDATE SET total = excluded.total, filled_at = excluded.filled_at,
      held = excluded.held, held_until = excluded.held_until, closed_until = excluded.closed_until,
      ends_at = max(ends_at, excluded.ends_at)`,
  )
  const takeRow = database.prepare('SELECT at, amount FROM lamella_takes WHERE key = ? AND id = ?')
  const takeRows = database.prepare(
    'SELECT at, amount FROM lamella_takes WHERE key = ? ORDER BY at',
  )
  const putTake = database.prepare(
    `INSERT INTO lamella_takes VALUES (?, ?, ?, ?)
    ON CONFLICT (key, id) DO UPDATE SET at = excluded.at, amount = excluded.amount`,
  )
  const dropTake = database.prepare('DELETE FROM lamella_takes WHERE key = ? AND id = ?')
  const renewTake = database.prepare(
    'UPDATE lamella_takes SET at = ? WHERE key = ? AND id = ? AND at > ?',
  )

  const load = (claim: LimitClaim, key: string, at: number): LimitUsage => {
    const row = usageRow.get(key) as unknown as LimitUsage | undefined
    const usage = row === undefined ? emptyUsage(at) : { ...row }
    const gone = forget.all(key, forgottenUntil(claim, at, leaseMs))
    refreshUsage(
      usage,
      claim,
      at,
      gone.reduce((sum, { amount }) => sum + Number(amount), 0),
    )
    return usage
  }
  const keep = (usage: LimitUsage, claim: LimitClaim, key: string): void => {
    save.run({ key, ...usage, endsAt: usageEnds(usage, claim, leaseMs) })
  }

  return {
    leaseMs,
    pollMs,
    take: async (id, claims) =>
      inTransaction(database, (): LimitGrant => {
        const at = now()
        const found = claims.map((claim) => {
          const key = keyOf(claim.key)
          const usage = load(claim, key, at)
          const isTaken = takeRow.get(key, id) !== undefined
          const takes = (): LimitTake[] =>
            needsTakes(usage, claim) ? (takeRows.all(key) as unknown as LimitTake[]) : []
          const wait = isTaken ? 0 : waitFor(usage, claim, at, takes())
          return { claim, key, usage, isTaken, wait }
        })
        const waits = found.map(({ wait }) => wait)
        const longest = Math.max(0, ...waits)
        for (const { claim, key, usage, isTaken } of found) {
          if (longest === 0 && !isTaken) {
            putTake.run(key, id, at, claim.amount)
            addTake(usage, claim)
          }
          keep(usage, claim, key)
        }
        const remaining = found.map(({ usage, claim }) => remainingOf(usage, claim))
        return longest === 0
          ? { granted: true, remaining }
          : { granted: false, remaining, index: waits.indexOf(longest), retryAfterMs: longest }
      }),
    settle: async (id, settlements) =>
      inTransaction(database, () => {
        const at = now()
        for (const { claim, used } of settlements) {
          const key = keyOf(claim.key)
          const usage = load(claim, key, at)
          const taken = takeRow.get(key, id) as unknown as LimitTake | undefined
          if (taken !== undefined) {
            const rest = settleTake(usage, claim, taken, used)
            if (rest === undefined) dropTake.run(key, id)
            else putTake.run(key, id, rest.at, rest.amount)
          }
          keep(usage, claim, key)
        }
      }),
    restrict: async (restrictions) =>
      inTransaction(database, () => {
        const at = now()
        for (const restriction of restrictions) {
          const key = keyOf(restriction.claim.key)
          const usage = load(restriction.claim, key, at)
          restrictUsage(usage, restriction, at)
          keep(usage, restriction.claim, key)
        }
      }),
    async renew(id, claims) {
      const at = now()
      for (const claim of claims) renewTake.run(at, keyOf(claim.key), id, at - leaseMs)
    },
  }
}

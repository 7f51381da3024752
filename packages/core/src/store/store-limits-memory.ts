import type { LimitTake, LimitUsage } from './store-limit-math.ts'
import { limitMath } from './store-limit-math.ts'
import type { LimitClaim, LimitGrant, StoreLimits } from './store-limits.ts'

interface Kept extends LimitUsage {
  /** Takes by call, oldest first. */
  readonly takes: Map<string, LimitTake>
  readonly isConcurrent: boolean
  endsAt: number
}

/** Counts limits within this process. Removes unused limits. */
export function memoryLimits({ clock }: { readonly clock: { now(): number } }): StoreLimits {
  const usages = new Map<string, Kept>()

  const usageOf = (claim: LimitClaim, now: number): Kept => {
    const isConcurrent = claim.kind === 'concurrency'
    const usage = usages.get(claim.key) ?? {
      ...limitMath.emptyUsage(now),
      takes: new Map<string, LimitTake>(),
      isConcurrent,
      endsAt: 0,
    }
    usages.delete(claim.key)
    usages.set(claim.key, usage)
    limitMath.refreshUsage(
      usage,
      claim,
      now,
      forget(usage.takes, limitMath.forgottenUntil(claim, now)),
    )
    return usage
  }

  /** Removes ended limits, checking two at each call. */
  const sweep = (now: number): void => {
    for (let turn = 0; turn < 2; turn++) {
      const [oldest] = usages
      if (oldest === undefined) return
      const [key, usage] = oldest
      usages.delete(key)
      const isRunning = usage.isConcurrent && usage.takes.size > 0
      if (usage.endsAt > now || isRunning) usages.set(key, usage)
    }
  }

  return {
    take(id, claims): LimitGrant {
      const now = clock.now()
      sweep(now)
      const found = claims.map((claim) => usageOf(claim, now))
      const waits = claims.map((claim, index) => {
        const usage = found[index]!
        return usage.takes.has(id) ? 0 : limitMath.waitFor(usage, claim, now, usage.takes.values())
      })
      const longest = Math.max(0, ...waits)
      for (const [index, claim] of claims.entries()) {
        const usage = found[index]!
        if (longest > 0 || usage.takes.has(id)) continue
        usage.takes.set(id, { at: now, amount: claim.amount })
        limitMath.addTake(usage, claim)
        usage.endsAt = Math.max(usage.endsAt, limitMath.usageEnds(usage, claim))
      }
      const remaining = claims.map((claim, index) => limitMath.remainingOf(found[index]!, claim))
      return longest === 0
        ? { granted: true, remaining }
        : { granted: false, remaining, index: waits.indexOf(longest), retryAfterMs: longest }
    },
    settle(id, settlements) {
      const now = clock.now()
      for (const { claim, used } of settlements) {
        const usage = usageOf(claim, now)
        const taken = usage.takes.get(id)
        if (taken === undefined) continue
        const rest = limitMath.settleTake(usage, claim, taken, used)
        if (rest === undefined) usage.takes.delete(id)
        else usage.takes.set(id, rest)
        usage.endsAt = Math.max(usage.endsAt, limitMath.usageEnds(usage, claim))
      }
    },
    restrict(restrictions) {
      const now = clock.now()
      for (const restriction of restrictions) {
        const usage = usageOf(restriction.claim, now)
        limitMath.restrictUsage(usage, restriction, now)
        usage.endsAt = Math.max(usage.endsAt, limitMath.usageEnds(usage, restriction.claim))
      }
    },
    renew() {
      // Within one process, a running call keeps its lease.
    },
  }
}

/** Removes takes up to a time and returns their sum. */
function forget(takes: Map<string, LimitTake>, until: number): number {
  let gone = 0
  for (const [id, { at, amount }] of takes) {
    if (at > until) break
    takes.delete(id)
    gone += amount
  }
  return gone
}

import type { LimitClaim, LimitRestriction } from './store-limits.ts'

/** Usage of one limit, without the single takes. */
export interface LimitUsage {
  /** Sum of the takes of a window or of calls at once; for a bucket, the amount that is missing at `filledAt`. */
  total: number
  /** Time of the last update, in milliseconds. */
  filledAt: number
  /** Amount that others use, as the provider reports it. */
  held: number
  /** Time until which `held` counts. */
  heldUntil: number
  /** Time until which the provider accepts nothing. */
  closedUntil: number
}

/** Amount that one call took. */
export interface LimitTake {
  /** Time of the take, or of its last renewal. */
  readonly at: number
  /** Amount of the take. */
  readonly amount: number
}

/**
 * Arithmetic of limits for stores that keep usage in rows, as the store in memory does. A store reads the usage of
 * a claim, changes it with these functions within one transaction, and writes it back.
 * @example
 * ```ts
 * import type { LimitClaim } from '@lamella/core/authoring'
 * import { limitMath } from '@lamella/core/authoring'
 *
 * const claim: LimitClaim = { key: 'calls', kind: 'sliding-window', limit: 2, windowMs: 60_000, amount: 1 }
 * const usage = limitMath.emptyUsage(0)
 * limitMath.addTake(usage, claim)
 * console.log(limitMath.remainingOf(usage, claim)) // 1
 * ```
 */
export const limitMath = {
  /** Creates the usage of an unused limit. */
  emptyUsage: (now: number): LimitUsage => {
    return { total: 0, filledAt: now, held: 0, heldUntil: 0, closedUntil: 0 }
  },

  /** Returns the time up to which takes no longer count. Takes of a bucket are only kept to be settled. */
  forgottenUntil: (claim: LimitClaim, now: number, leaseMs: number = Infinity): number => {
    return now - keptMs(claim, leaseMs)
  },

  /** Updates a usage to a time. `gone` is the sum of the takes that no longer count. */
  refreshUsage: (usage: LimitUsage, claim: LimitClaim, now: number, gone: number): void => {
    const { kind, limit, windowMs } = claim
    if (kind === 'token-bucket') {
      const filled = (Math.max(0, now - usage.filledAt) * limit) / windowMs
      usage.total = Math.max(0, usage.total - filled)
    } else usage.total = clean(usage.total - gone)
    usage.filledAt = now
    if (usage.heldUntil <= now) usage.held = 0
  },

  /** Returns the remaining amount of a limit. */
  remainingOf: ({ total, held }: LimitUsage, { limit }: LimitClaim): number => {
    return Math.max(0, limit - total - held)
  },

  /** Returns true if the wait depends on single takes. `waitFor` then needs them, oldest first. */
  needsTakes: ({ total, held }: LimitUsage, { kind, limit, amount }: LimitClaim): boolean => {
    return kind === 'sliding-window' && total + held + amount - limit > tiny
  },

  /** Returns the time in milliseconds until the claim can be granted; `Infinity` if a call has to end first. */
  waitFor: (
    usage: LimitUsage,
    { kind, limit, windowMs, amount }: LimitClaim,
    now: number,
    takes: Iterable<LimitTake> = [],
  ): number => {
    const closed = Math.max(0, usage.closedUntil - now)
    let excess = usage.total + usage.held + amount - limit
    if (excess <= tiny) return closed
    if (kind === 'concurrency') return Infinity
    if (kind === 'token-bucket') return Math.max(closed, (excess * windowMs) / limit)
    // Held amounts and takes return in the order of their times.
    let { held } = usage
    for (const { at, amount: back } of takes) {
      if (held > 0 && usage.heldUntil <= at + windowMs) {
        excess -= held
        held = 0
        if (excess <= tiny) return Math.max(closed, usage.heldUntil - now)
      }
      excess -= back
      if (excess <= tiny) return Math.max(closed, at + windowMs - now)
    }
    return Math.max(closed, usage.heldUntil - now, 1)
  },

  /** Adds a take. */
  addTake: (usage: LimitUsage, { amount }: LimitClaim): void => {
    usage.total += amount
  },

  /** Replaces the amount of a take with the amount that the call used. Returns the take, or `undefined` if nothing remains. */
  settleTake: (
    usage: LimitUsage,
    { kind }: LimitClaim,
    taken: LimitTake,
    used: number,
  ): LimitTake | undefined => {
    const rest = kind === 'concurrency' ? 0 : used
    usage.total = Math.max(0, clean(usage.total + rest - taken.amount))
    return kind === 'token-bucket' || rest === 0 ? undefined : { at: taken.at, amount: rest }
  },

  /** Lowers the remaining amount for a while. */
  restrictUsage: (
    usage: LimitUsage,
    { claim, remaining, forMs }: LimitRestriction,
    now: number,
  ): void => {
    const { kind, limit } = claim
    if (remaining === 0) usage.closedUntil = Math.max(usage.closedUntil, now + forMs)
    else if (kind === 'token-bucket') usage.total = Math.max(usage.total, limit - remaining)
    else {
      usage.held = Math.max(0, limit - usage.total - remaining)
      usage.heldUntil = now + forMs
    }
  },

  /** Returns the time from which a usage equals an unused limit, and no call can settle its take any more. */
  usageEnds: (usage: LimitUsage, claim: LimitClaim, leaseMs: number = 0): number => {
    const { total, filledAt, heldUntil, closedUntil } = usage
    const { kind, limit, windowMs } = claim
    const fullAt = kind === 'token-bucket' ? filledAt + (total * windowMs) / limit : 0
    return Math.max(filledAt + keptMs(claim, leaseMs), fullAt, heldUntil, closedUntil)
  },
}

/** How long a take is kept. */
function keptMs({ kind, windowMs }: LimitClaim, leaseMs: number): number {
  if (kind === 'concurrency') return leaseMs
  return kind === 'token-bucket' ? Math.max(windowMs, longestCallMs) : windowMs
}

/** Rounds away the drift of sums of fractions. */
function clean(total: number): number {
  return Math.abs(total) <= tiny ? 0 : total
}

const tiny = 1e-9
const longestCallMs = 600_000

import type { LimitClaim, LimitRestriction } from './store-limits.ts'

/** What is used of one limit, without the single calls. */
export interface LimitUsage {
  /** Sum of what calls took of a window or run at once; of a bucket, what is missing at `filledAt`. */
  total: number
  /** Time at which it was last brought up to date, in milliseconds. */
  filledAt: number
  /** What others use, as the provider says. */
  held: number
  /** Time until which `held` counts. */
  heldUntil: number
  /** Time before which the provider lets nothing through. */
  closedUntil: number
}

/** What one call took, and when. */
export interface LimitTake {
  /** Time of the take, or of its last renewal. */
  readonly at: number
  /** What it took. */
  readonly amount: number
}

/** Makes the usage of a limit that nobody has used. */
export function emptyUsage(now: number): LimitUsage {
  return { total: 0, filledAt: now, held: 0, heldUntil: 0, closedUntil: 0 }
}

/** Time up to which takes no longer count. Takes of a bucket only say that they may be settled. */
export function forgottenUntil(
  { kind, windowMs }: LimitClaim,
  now: number,
  leaseMs: number = Infinity,
): number {
  if (kind === 'concurrency') return now - leaseMs
  return now - (kind === 'token-bucket' ? Math.max(windowMs, longestCallMs) : windowMs)
}

/** Brings a usage up to date. `gone` is the sum of the takes that no longer count. */
export function refreshUsage(
  usage: LimitUsage,
  claim: LimitClaim,
  now: number,
  gone: number,
): void {
  const { kind, limit, windowMs } = claim
  if (kind === 'token-bucket') {
    const filled = (Math.max(0, now - usage.filledAt) * limit) / windowMs
    usage.total = Math.max(0, usage.total - filled)
  } else usage.total = clean(usage.total - gone)
  usage.filledAt = now
  if (usage.heldUntil <= now) usage.held = 0
}

/** What is left of a limit. */
export function remainingOf({ total, held }: LimitUsage, { limit }: LimitClaim): number {
  return Math.max(0, limit - total - held)
}

/** Whether the wait depends on single takes, which `waitFor` then needs, the oldest first. */
export function needsTakes(
  { total, held }: LimitUsage,
  { kind, limit, amount }: LimitClaim,
): boolean {
  return kind === 'sliding-window' && total + held + amount - limit > tiny
}

/** Milliseconds until the claim fits; 0 if it does, `Infinity` if only the end of a call helps. */
export function waitFor(
  usage: LimitUsage,
  { kind, limit, windowMs, amount }: LimitClaim,
  now: number,
  takes: Iterable<LimitTake> = [],
): number {
  const closed = Math.max(0, usage.closedUntil - now)
  let excess = usage.total + usage.held + amount - limit
  if (excess <= tiny) return closed
  if (kind === 'concurrency') return Infinity
  if (kind === 'token-bucket') return Math.max(closed, (excess * windowMs) / limit)
  // What is held and what was taken return in the order of their times.
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
}

/** Adds what a call takes. */
export function addTake(usage: LimitUsage, { amount }: LimitClaim): void {
  usage.total += amount
}

/** Replaces what a call took with what it used; gives what its take becomes, `undefined` for nothing. */
export function settleTake(
  usage: LimitUsage,
  { kind }: LimitClaim,
  taken: LimitTake,
  used: number,
): LimitTake | undefined {
  const rest = kind === 'concurrency' ? 0 : used
  const change = rest - taken.amount
  usage.total =
    kind === 'token-bucket' ? Math.max(0, usage.total + change) : clean(usage.total + change)
  return kind === 'token-bucket' || rest === 0 ? undefined : { at: taken.at, amount: rest }
}

/** Lets less through for a while. */
export function restrictUsage(
  usage: LimitUsage,
  { claim, remaining, forMs }: LimitRestriction,
  now: number,
): void {
  const { kind, limit } = claim
  if (remaining === 0) usage.closedUntil = Math.max(usage.closedUntil, now + forMs)
  else if (kind === 'token-bucket') usage.total = Math.max(usage.total, limit - remaining)
  else {
    usage.held = Math.max(0, limit - usage.total - remaining)
    usage.heldUntil = now + forMs
  }
}

/** Time from which on a usage without takes is as good as none. */
export function usageEnds(
  usage: LimitUsage,
  { kind, limit, windowMs }: LimitClaim,
  leaseMs: number = 0,
): number {
  const { total, filledAt, heldUntil, closedUntil } = usage
  const windowEnds = filledAt + (kind === 'concurrency' ? leaseMs : windowMs)
  const fullAt = kind === 'token-bucket' ? filledAt + (total * windowMs) / limit : 0
  return Math.max(windowEnds, fullAt, heldUntil, closedUntil)
}

/** Sums of fractions drift. */
function clean(total: number): number {
  return Math.abs(total) <= tiny ? 0 : total
}

const tiny = 1e-9
const longestCallMs = 600_000

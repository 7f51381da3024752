import type { Claim, Grant, RateLimitStore } from './rate-limit-store.ts'

/** What is used of one key. */
interface Usage {
  readonly kind: Claim['kind']
  /** Of windows and concurrency: what each call took, the oldest first. */
  readonly taken: Map<string, { readonly at: number; amount: number }>
  /** The sum of `taken`. */
  total: number
  /** Of a bucket: what is in it at `filledAt`. */
  tokens: number
  filledAt: number
  /** What others use, by what the provider says. */
  held: number
  heldUntil: number
  /** The provider lets nothing through before. */
  closedUntil: number
  /** When nothing of it matters any more. */
  expiresAt: number
}

/** Counts in this process. Keys that are not used are forgotten by themselves. */
export function memoryLimitStore(
  options: { readonly clock?: { now(): number } | undefined } = {},
): RateLimitStore {
  const { clock = Date } = options
  const usages = new Map<string, Usage>()

  const usageOf = ({ key, kind, limit, windowMs }: Claim, now: number): Usage => {
    const usage = usages.get(key) ?? fresh(kind, limit, now)
    usages.delete(key)
    usages.set(key, usage)
    if (kind === 'sliding-window') forget(usage, now - windowMs)
    else if (kind === 'token-bucket') fill(usage, limit, windowMs, now)
    if (usage.heldUntil <= now) usage.held = 0
    usage.expiresAt = Math.max(usage.expiresAt, now + windowMs)
    return usage
  }

  /** Forgets what is over, looking at two keys each time. */
  const sweep = (now: number): void => {
    for (let turn = 0; turn < 2; turn++) {
      const [key, usage] = usages.entries().next().value ?? []
      if (key === undefined || usage === undefined) return
      usages.delete(key)
      const isRunning = usage.kind === 'concurrency' && usage.taken.size > 0
      if (usage.expiresAt > now || isRunning) usages.set(key, usage)
    }
  }

  return {
    kinds: ['sliding-window', 'token-bucket', 'concurrency'],
    take(id, claims): Grant {
      const now = clock.now()
      sweep(now)
      const found = claims.map((claim) => usageOf(claim, now))
      const waits = claims.map((claim, index) => waitFor(found[index]!, claim, now))
      const longest = Math.max(0, ...waits)
      if (longest === 0)
        for (const [index, claim] of claims.entries()) add(found[index]!, claim, id, now)
      const remaining = claims.map((claim, index) => remainingOf(found[index]!, claim))
      return longest === 0
        ? { granted: true, remaining }
        : { granted: false, remaining, index: waits.indexOf(longest), retryAfterMs: longest }
    },
    settle(id, settlements) {
      const now = clock.now()
      for (const { claim, used } of settlements) correct(usageOf(claim, now), claim, id, used)
    },
    restrict(restrictions) {
      const now = clock.now()
      for (const { claim, remaining, forMs } of restrictions) {
        const usage = usageOf(claim, now)
        usage.expiresAt = Math.max(usage.expiresAt, now + forMs)
        if (remaining === 0) usage.closedUntil = Math.max(usage.closedUntil, now + forMs)
        else if (claim.kind === 'token-bucket') usage.tokens = Math.min(usage.tokens, remaining)
        else {
          usage.held = Math.max(0, claim.limit - usage.total - remaining)
          usage.heldUntil = now + forMs
        }
      }
    },
  }
}

function fresh(kind: Claim['kind'], limit: number, now: number): Usage {
  const none = { held: 0, heldUntil: 0, closedUntil: 0, expiresAt: 0 }
  return { kind, taken: new Map(), total: 0, tokens: limit, filledAt: now, ...none }
}

function forget(usage: Usage, until: number): void {
  for (const [id, { at, amount }] of usage.taken) {
    if (at > until) break
    usage.taken.delete(id)
    usage.total -= amount
  }
  // Sums of fractions drift.
  if (usage.taken.size === 0) usage.total = 0
}

function fill(usage: Usage, limit: number, windowMs: number, now: number): void {
  usage.tokens = Math.min(limit, usage.tokens + ((now - usage.filledAt) * limit) / windowMs)
  usage.filledAt = now
}

function remainingOf(usage: Usage, { kind, limit }: Claim): number {
  return Math.max(0, kind === 'token-bucket' ? usage.tokens : limit - usage.total - usage.held)
}

/** How long until the claim fits; 0 if it does. */
function waitFor(usage: Usage, { kind, limit, windowMs, amount }: Claim, now: number): number {
  const closed = Math.max(0, usage.closedUntil - now)
  if (kind === 'token-bucket') {
    const missing = amount - usage.tokens
    return missing <= tiny ? closed : Math.max(closed, (missing * windowMs) / limit)
  }
  let excess = usage.total + usage.held + amount - limit
  if (excess <= tiny) return closed
  if (kind === 'concurrency') return Infinity
  // What is held and what was taken come back in the order of their times.
  let held = usage.held
  for (const { at, amount: back } of usage.taken.values()) {
    if (held > 0 && usage.heldUntil <= at + windowMs) {
      excess -= held
      held = 0
      if (excess <= tiny) return Math.max(closed, usage.heldUntil - now)
    }
    excess -= back
    if (excess <= tiny) return Math.max(closed, at + windowMs - now)
  }
  return Math.max(closed, usage.heldUntil - now)
}

function add(usage: Usage, { kind, amount }: Claim, id: string, now: number): void {
  if (kind === 'token-bucket') {
    usage.tokens -= amount
    return
  }
  usage.taken.set(id, { at: now, amount })
  usage.total += amount
}

function correct(usage: Usage, claim: Claim, id: string, used: number): void {
  const { kind, limit, windowMs, amount } = claim
  if (kind === 'token-bucket') {
    usage.tokens = Math.min(limit, usage.tokens + amount - used)
    const fullAt = usage.filledAt + ((limit - usage.tokens) * windowMs) / limit
    usage.expiresAt = Math.max(usage.expiresAt, fullAt)
    return
  }
  const taken = usage.taken.get(id)
  if (taken === undefined) return
  const rest = kind === 'concurrency' ? 0 : used
  usage.total += rest - taken.amount
  if (rest === 0) usage.taken.delete(id)
  else taken.amount = rest
  if (usage.taken.size === 0) usage.total = 0
}

/** What is lost when fractions are added up. */
const tiny = 1e-9

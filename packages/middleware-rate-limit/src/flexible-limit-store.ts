import { wrongOption } from '@lamella/core/authoring'
import type { Claim, RateLimitStore } from './rate-limit-store.ts'

/** State that a limiter of `rate-limiter-flexible` returns. */
interface FlexibleState {
  readonly remainingPoints: number
  readonly msBeforeNext: number
}

/** The part of a limiter of `rate-limiter-flexible` that this package uses. */
export interface FlexibleLimiter {
  /** Takes points. Rejects with a state, not an `Error`, when they are used up. */
  consume(key: string, points: number): Promise<FlexibleState>
  /** Takes points without a check. */
  penalty(key: string, points: number): Promise<unknown>
  /** Gives points back. */
  reward(key: string, points: number): Promise<unknown>
  /** Rejects all calls of a key for some seconds. */
  block(key: string, seconds: number): Promise<unknown>
}

/** Options of a limiter of `rate-limiter-flexible`, without its connection. */
export interface FlexibleLimiterOptions {
  /** Prefix of its keys. */
  readonly keyPrefix: string
  /** Points in one window. */
  readonly points: number
  /** Length of the window in seconds. */
  readonly duration: number
}

/**
 * Makes a store of any backend of `rate-limiter-flexible`: Postgres, MySQL, MongoDB, DynamoDB, Memcached
 * and others. `make` gets the options and adds the connection. It counts whole points in fixed windows,
 * and no concurrency.
 */
export function flexibleLimitStore(
  make: (options: FlexibleLimiterOptions) => FlexibleLimiter,
): RateLimitStore {
  if (typeof make !== 'function')
    throw wrongOption('flexibleLimitStore', 'make', 'a function', make)
  const limiters = new Map<string, FlexibleLimiter>()
  /** End of the window in which a call took its points, by call and key. */
  const windowEnds = new Map<string, number>()

  const limiterOf = ({ limit, windowMs }: Claim): FlexibleLimiter => {
    const keyPrefix = `lamella-${limit}-${windowMs}`
    let limiter = limiters.get(keyPrefix)
    if (limiter === undefined) {
      limiter = make({ keyPrefix, points: limit, duration: windowMs / 1000 })
      limiters.set(keyPrefix, limiter)
    }
    return limiter
  }

  const change = async (id: string, claim: Claim, by: number): Promise<void> => {
    const place = `${id} ${claim.key}`
    const isSameWindow = Date.now() < (windowEnds.get(place) ?? 0)
    windowEnds.delete(place)
    if (by === 0 || !isSameWindow) return
    await limiterOf(claim)[by > 0 ? 'penalty' : 'reward'](claim.key, Math.abs(by))
  }

  return {
    kinds: ['fixed-window'],
    async take(id, claims) {
      const remaining = claims.map(({ limit }) => limit)
      for (const [index, claim] of claims.entries()) {
        const answer = await limiterOf(claim)
          .consume(claim.key, points(claim))
          .then((state) => ({ granted: true, state }), refused)
        const { remainingPoints, msBeforeNext } = answer.state
        remaining[index] = Math.max(0, remainingPoints)
        windowEnds.set(`${id} ${claim.key}`, Date.now() + msBeforeNext)
        if (answer.granted) continue
        // A rejected call has been counted too.
        for (const taken of claims.slice(0, index + 1)) await change(id, taken, -points(taken))
        return { granted: false, remaining, index, retryAfterMs: Math.max(1, msBeforeNext) }
      }
      return { granted: true, remaining }
    },
    async settle(id, settlements) {
      for (const { claim, used } of settlements)
        await change(id, claim, Math.ceil(used) - points(claim))
    },
    async restrict(restrictions) {
      for (const { claim, remaining, forMs } of restrictions) {
        if (remaining === 0) await limiterOf(claim).block(claim.key, Math.ceil(forMs / 1000))
      }
    },
  }
}

function points({ amount }: Claim): number {
  return Math.ceil(amount)
}

function refused(state: unknown): { granted: false; state: FlexibleState } {
  if (state instanceof Error) throw state
  return { granted: false, state: state as FlexibleState }
}

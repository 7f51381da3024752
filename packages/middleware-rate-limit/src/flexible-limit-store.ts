import { wrongOption } from '@lamella/core/authoring'
import type { Claim, RateLimitStore } from './rate-limit-store.ts'

/** What a limiter of `rate-limiter-flexible` answers. */
interface FlexibleState {
  readonly remainingPoints: number
  readonly msBeforeNext: number
}

/** What is used of a limiter of `rate-limiter-flexible`. */
export interface FlexibleLimiter {
  /** Rejects with a state, and no `Error`, when the points are used up. */
  consume(key: string, points: number): Promise<FlexibleState>
  penalty(key: string, points: number): Promise<unknown>
  reward(key: string, points: number): Promise<unknown>
  block(key: string, seconds: number): Promise<unknown>
}

/** What a limiter of `rate-limiter-flexible` is made with, besides its connection. */
export interface FlexibleLimiterOptions {
  readonly keyPrefix: string
  readonly points: number
  /** In seconds. */
  readonly duration: number
}

/**
 * Counts wherever `rate-limiter-flexible` can: Postgres, MySQL, MongoDB, DynamoDB, Memcached … `make`
 * gets the options and adds the connection. It counts whole points in fixed windows, and nothing that
 * is concurrent.
 */
export function flexibleLimitStore(
  make: (options: FlexibleLimiterOptions) => FlexibleLimiter,
): RateLimitStore {
  if (typeof make !== 'function')
    throw wrongOption('flexibleLimitStore', 'make', 'a function', make)
  const limiters = new Map<string, FlexibleLimiter>()
  /** When the window ends in which a call took its points, by call and key. */
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
        // What was refused has been counted, too.
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

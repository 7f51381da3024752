import type { LimitClaim, StoreLimits } from '@lamella/core/authoring'
import { renewScript, restrictScript, settleScript, takeScript } from './redis-limit-scripts.ts'
import type { RedisScript } from './run-script.ts'

/** Counts limits in Redis. Each step is one script. */
export function redisLimits(options: {
  readonly run: (script: RedisScript, keys: string[], args: string[]) => Promise<unknown>
  /** Key of the counts of a limit. */
  readonly keyOf: (key: string) => string
  /** Key of its times, which is that of no other limit. */
  readonly timesKeyOf: (key: string) => string
  readonly clock: { now(): number } | undefined
  readonly leaseMs: number
  readonly pollMs: number
}): StoreLimits {
  const { run, keyOf, timesKeyOf, clock, leaseMs, pollMs } = options

  const call = (
    script: RedisScript,
    id: string,
    entries: readonly {
      readonly claim: LimitClaim
      readonly amount: number
      readonly used: number
    }[],
  ): Promise<unknown> => {
    const keys = entries.flatMap(({ claim }) => [keyOf(claim.key), timesKeyOf(claim.key)])
    const args = entries.flatMap(({ claim: { kind, limit, windowMs }, amount, used }) => {
      const window = kind === 'concurrency' ? leaseMs : windowMs
      return [kind, limit, window, amount, used].map(String)
    })
    return run(script, keys, [id, clock === undefined ? '' : String(clock.now()), ...args])
  }

  return {
    leaseMs,
    pollMs,
    async take(id, claims) {
      const entries = claims.map((claim) => ({ claim, amount: claim.amount, used: 0 }))
      const answer = (await call(takeScript, id, entries)) as (number | string)[]
      const [granted, index, wait, ...rest] = answer.map(Number) as [number, number, number]
      const remaining = rest as readonly number[]
      return granted === 1
        ? { granted: true, remaining }
        : { granted: false, remaining, index, retryAfterMs: wait === -1 ? Infinity : wait }
    },
    async settle(id, settlements) {
      const entries = settlements.map(({ claim, used }) => ({ claim, amount: claim.amount, used }))
      await call(settleScript, id, entries)
    },
    async renew(id, claims) {
      await call(
        renewScript,
        id,
        claims.map((claim) => ({ claim, amount: 0, used: 0 })),
      )
    },
    async restrict(restrictions) {
      const entries = restrictions.map(({ claim, remaining, forMs }) => ({
        claim,
        amount: Math.ceil(forMs),
        used: remaining,
      }))
      await call(restrictScript, '', entries)
    },
  }
}

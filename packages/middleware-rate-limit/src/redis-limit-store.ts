import { checkOptions } from '@lamella/core/authoring'
import type { Claim, RateLimitStore } from './rate-limit-store.ts'
import { renewScript, restrictScript, settleScript, takeScript } from './redis-limit-scripts.ts'

/** Runs a Lua script, such as `(script, keys, args) => redis.eval(script, { keys, arguments: args })`. */
export type EvalRedis = (script: string, keys: string[], args: string[]) => Promise<unknown>

/** What is used of a client of `ioredis`. */
export interface RedisWithEval {
  eval(script: string, numberOfKeys: number, ...keysAndArgs: string[]): Promise<unknown>
}

export interface RedisLimitStoreOptions {
  /**
   * Stands before the keys. All of them are in one slot of a cluster.
   * @default 'lamella:rate-limit'
   */
  readonly prefix?: string | undefined
  /**
   * Milliseconds after which what a process had running at once is given back, if the process is
   * gone. One that lives renews its leases in time.
   * @default 30000
   */
  readonly leaseMs?: number | undefined
  /**
   * Milliseconds between two looks whether other processes gave something back.
   * @default 100
   */
  readonly pollMs?: number | undefined
  /** @default that of Redis, so that those of the processes need not agree */
  readonly clock?: { now(): number } | undefined
}

/**
 * Counts in Redis 5 or newer, for all processes together. Each step is one script.
 * @throws TypeError or RangeError that names the option
 */
export function redisLimitStore(
  redis: RedisWithEval | EvalRedis,
  options: RedisLimitStoreOptions = {},
): RateLimitStore {
  const { prefix = 'lamella:rate-limit', leaseMs = 30_000, pollMs = 100, clock } = options
  checkOptions('redisLimitStore', options, {
    prefix: 'any',
    leaseMs: 100,
    pollMs: 1,
    clock: 'any',
  })
  const run: EvalRedis =
    typeof redis === 'function'
      ? redis
      : (script, keys, args) => redis.eval(script, keys.length, ...keys, ...args)

  const call = (
    script: string,
    id: string,
    entries: readonly { readonly claim: Claim; readonly amount: number; readonly used: number }[],
  ): Promise<unknown> => {
    const keys = entries.flatMap(({ claim }) => {
      const key = `{${prefix}}:${claim.key}`
      return [key, `${key}:times`]
    })
    const args = entries.flatMap(({ claim: { kind, limit, windowMs }, amount, used }) => {
      const window = kind === 'concurrency' ? leaseMs : windowMs
      return [kind, limit, window, amount, used].map(String)
    })
    return run(script, keys, [id, clock === undefined ? '' : String(clock.now()), ...args])
  }

  return {
    kinds: ['sliding-window', 'token-bucket', 'concurrency'],
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

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LimitClaim } from '../../packages/core/src/authoring.ts'
import type { Store } from '../../packages/core/src/index.ts'
import { memoryStore } from '../../packages/core/src/index.ts'
import { postgresStore } from '../../packages/store-postgres/src/index.ts'
import { redisStore } from '../../packages/store-redis/src/index.ts'
import { sqliteStore } from '../../packages/store-sqlite/src/index.ts'
import { testClock } from '../../packages/testing/src/index.ts'
import { realServices } from '../support/real-services.ts'

const { own, redis, pool } = realServices('agree')

type Clock = { now(): number }
let made = 0
const stores: [string, number, (clock: Clock) => Store][] = [
  ['SQLite', 60, (clock) => sqliteStore(':memory:', { clock })],
]
if (redis !== undefined) {
  const make = (clock: Clock) => redisStore(redis, { clock, namespace: `${own}-${++made}` })
  stores.push(['Redis', 60, make])
}
if (pool !== undefined) {
  const make = (clock: Clock) => postgresStore(pool, { clock, schema: own, namespace: `${++made}` })
  stores.push(['PostgreSQL', 15, make])
}

it('at most the limit passes in any window, and as much as it allows', async () => {
  const arrivals = fc.array(
    fc.record({ afterMs: fc.nat(400), amount: fc.integer({ min: 1, max: 10 }) }),
    { maxLength: 60 },
  )
  await fc.assert(
    fc.asyncProperty(arrivals, async (calls) => {
      const clock = testClock()
      const { limits } = memoryStore({ clock })
      const passed: { at: number; amount: number }[] = []
      /** Returns the amount that passed in the window that ends at a time. */
      const total = (now: number) =>
        passed.reduce((sum, { at, amount }) => (at > now - 1000 ? sum + amount : sum), 0)
      for (const [index, { afterMs, amount }] of calls.entries()) {
        await clock.advance(afterMs)
        const now = clock.now()
        const fixed = { key: 'k', kind: 'sliding-window', limit: 10, windowMs: 1000 } as const
        const grant = await limits.take(`${index}`, [{ ...fixed, amount }])
        if (grant.granted !== total(now) + amount <= 10) return false
        if (grant.granted) passed.push({ at: now, amount })
        else if (total(now + grant.retryAfterMs) + amount > 10) return false
      }
      return true
    }),
  )
})

describe.each(stores)('%s', (_, numRuns, make) => {
  it('counts limits as memory does, whatever happens', async () => {
    const step = fc.record({
      afterMs: fc.nat(300),
      action: fc.constantFrom('take', 'take', 'take', 'again', 'settle', 'restrict'),
      amount: fc.integer({ min: 1, max: 6 }),
      used: fc.integer({ min: 0, max: 9 }),
    })
    const kinds = fc.constantFrom('sliding-window', 'token-bucket', 'concurrency')

    const agree = fc.asyncProperty(
      kinds,
      fc.array(step, { maxLength: 30 }),
      async (kind, steps) => {
        const isConcurrent = kind === 'concurrency'
        const clock = testClock()
        const both = [memoryStore({ clock }), make(clock)]
        const taken: [string, LimitClaim][] = []
        const answers: number[][] = [[], []]
        for (const [index, { afterMs, action, amount, used }] of steps.entries()) {
          await clock.advance(afterMs)
          const windowMs = isConcurrent ? 0 : 1000
          const share = isConcurrent ? 1 : amount
          const claim: LimitClaim = { key: 'k', kind, limit: 7, windowMs, amount: share }
          const [old] = action === 'settle' ? taken.splice(used % Math.max(1, taken.length), 1) : []
          const [known] = action === 'again' ? taken.slice(-1) : []
          for (const [at, { limits }] of both.entries()) {
            if (old !== undefined) await limits.settle(old[0], [{ claim: old[1], used }])
            if (old !== undefined && used % 2 === 0) {
              await limits.settle(old[0], [{ claim: old[1], used: 0 }])
            }
            if (known !== undefined) await limits.take(known[0], [known[1]])
            if (action === 'restrict' && !isConcurrent) {
              await limits.restrict([{ claim, remaining: used, forMs: afterMs + 1 }])
            }
            if (action !== 'take') continue
            const { remaining, ...grant } = await limits.take(`call ${index}`, [claim])
            // Scripts count waits in whole milliseconds.
            const wait = grant.granted ? 0 : Math.min(grant.retryAfterMs, 1e6)
            answers[at]!.push(Number(grant.granted), Math.ceil(wait - 1e-6), remaining[0]!)
            if (grant.granted && at === 0) taken.push([`call ${index}`, claim])
          }
        }
        const [inMemory, there] = answers
        return there!.every((value, at) => Math.abs(value - inMemory![at]!) < 1e-3)
      },
    )

    await fc.assert(agree, { numRuns })
  })

  it('compares and sets as memory does', async () => {
    const value = fc.option(fc.jsonValue({ maxDepth: 2 }), { nil: undefined, freq: 4 })
    const step = fc.tuple(value, fc.jsonValue({ maxDepth: 2 }), fc.boolean())

    const agree = fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
      const clock = testClock()
      const both = [memoryStore(), make(clock)]
      for (const [expected, next, isCurrent] of steps) {
        const results = await Promise.all(
          both.map(async (store) => {
            const wanted = isCurrent ? await store.get('key') : expected
            const wrote = await store.compareAndSet('key', wanted, next)
            return [wrote, await store.get('key')]
          }),
        )
        expect(JSON.stringify(results[1])).toBe(JSON.stringify(results[0]))
      }
    })

    await fc.assert(agree, { numRuns })
  })
})

import { testClock } from '@lamella/testing'
import * as fc from 'fast-check'
import { afterAll, it } from 'vitest'
import type { Claim, RateLimitStore } from './index.ts'
import { memoryLimitStore, redisLimitStore } from './index.ts'
import { ownPrefix, realRedis, removeKeys } from './real-redis.test-helper.ts'

const redis = realRedis()
const prefix = ownPrefix()
afterAll(async () => {
  if (redis === undefined) return
  await removeKeys(redis, prefix)
  redis.disconnect()
})

let made = 0
const inRedis = (clock: { now(): number }): RateLimitStore =>
  redisLimitStore(redis!, { prefix: `${prefix}}${++made}{`, clock })

it('at most the limit passes in any window, and as much as it allows', async () => {
  const arrivals = fc.array(
    fc.record({ afterMs: fc.nat(400), amount: fc.integer({ min: 1, max: 10 }) }),
    { maxLength: 60 },
  )
  await fc.assert(
    fc.asyncProperty(arrivals, async (calls) => {
      const clock = testClock()
      const store = memoryLimitStore({ clock })
      const passed: { at: number; amount: number }[] = []
      /** What had passed in the window that ends then. */
      const total = (now: number) =>
        passed.reduce((sum, { at, amount }) => (at > now - 1000 ? sum + amount : sum), 0)
      for (const [index, { afterMs, amount }] of calls.entries()) {
        await clock.advance(afterMs)
        const now = clock.now()
        const claim = {
          key: 'k',
          kind: 'sliding-window',
          limit: 10,
          windowMs: 1000,
          amount,
        } as const
        const grant = await store.take(`${index}`, [claim])
        if (grant.granted !== total(now) + amount <= 10) return false
        if (grant.granted) passed.push({ at: now, amount })
        else if (total(now + grant.retryAfterMs) + amount > 10) return false
      }
      return true
    }),
  )
})

it.skipIf(redis === undefined)('Redis counts as memory does, whatever happens', async () => {
  const step = fc.record({
    afterMs: fc.nat(300),
    action: fc.constantFrom('take', 'take', 'take', 'settle', 'restrict'),
    amount: fc.integer({ min: 1, max: 6 }),
    used: fc.integer({ min: 0, max: 9 }),
  })
  const kinds = fc.constantFrom('sliding-window', 'token-bucket', 'concurrency')

  const agree = fc.asyncProperty(kinds, fc.array(step, { maxLength: 30 }), async (kind, steps) => {
    const isConcurrent = kind === 'concurrency'
    const clock = testClock()
    const both = [memoryLimitStore({ clock }), inRedis(clock)]
    const taken: [string, Claim][] = []
    const answers: number[][] = [[], []]
    for (const [index, { afterMs, action, amount, used }] of steps.entries()) {
      await clock.advance(afterMs)
      const windowMs = isConcurrent ? 0 : 1000
      const share = isConcurrent ? 1 : amount
      const claim: Claim = { key: 'k', kind, limit: 7, windowMs, amount: share }
      const [old] = action === 'settle' ? taken.splice(used % Math.max(1, taken.length), 1) : []
      for (const [at, store] of both.entries()) {
        if (old !== undefined) await store.settle(old[0], [{ claim: old[1], used }])
        if (action === 'restrict' && !isConcurrent) {
          await store.restrict([{ claim, remaining: used, forMs: afterMs + 1 }])
        }
        if (action !== 'take') continue
        const { remaining, ...grant } = await store.take(`call ${index}`, [claim])
        // Scripts count waits in whole milliseconds.
        const wait = grant.granted ? 0 : Math.min(grant.retryAfterMs, 1e6)
        answers[at]!.push(Number(grant.granted), Math.ceil(wait - 1e-6), remaining[0]!)
        if (grant.granted && at === 0) taken.push([`call ${index}`, claim])
      }
    }
    const [inMemory, there] = answers
    return there!.every((value, at) => Math.abs(value - inMemory![at]!) < 1e-3)
  })

  await fc.assert(agree, { numRuns: 60 })
})

import { testClock } from '@lamella/testing'
import { afterAll, describe, expect, it } from 'vitest'
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

type Clock = { now(): number }
let made = 0
const stores: [string, (clock: Clock) => RateLimitStore][] = [
  ['in memory', (clock) => memoryLimitStore({ clock })],
]
const inRedis = (clock: Clock): RateLimitStore => {
  const run = (script: string, keys: string[], args: string[]): Promise<unknown> =>
    redis!.eval(script, keys.length, ...keys, ...args)
  return redisLimitStore(run, { prefix: `${prefix}}${++made}{`, clock, leaseMs: 500 })
}
if (redis !== undefined) stores.push(['in Redis', inRedis])

const claim = (over: Partial<Claim> = {}): Claim => ({
  key: 'k',
  kind: 'sliding-window',
  limit: 10,
  windowMs: 1000,
  amount: 1,
  ...over,
})

describe.each(stores)('a store %s', (_, make) => {
  it('takes all claims or none', async () => {
    const store = make(testClock())
    const small = claim({ key: 'small', limit: 1 })

    const first = await store.take('a', [claim({ amount: 4 }), small])
    const second = await store.take('b', [claim({ amount: 4 }), small])

    expect(first).toEqual({ granted: true, remaining: [6, 0] })
    expect(second).toEqual({ granted: false, remaining: [6, 0], index: 1, retryAfterMs: 1000 })
  })

  it('replaces what was claimed by what was used', async () => {
    const store = make(testClock())
    for (const kind of ['sliding-window', 'token-bucket'] as const) {
      const wanted = claim({ kind, key: kind, amount: 8 })
      await store.take('a', [wanted])
      await store.settle('a', [{ claim: wanted, used: 3 }])
      expect(await store.take('b', [{ ...wanted, amount: 7 }])).toMatchObject({ granted: true })
      await store.settle('b', [{ claim: { ...wanted, amount: 7 }, used: 0 }])
      expect(await store.take('c', [wanted])).toMatchObject({ granted: false })
      expect(await store.take('d', [{ ...wanted, amount: 7 }])).toMatchObject({ granted: true })
    }
  })

  it('remembers more than was claimed', async () => {
    const clock = testClock()
    const store = make(clock)
    const bucket = claim({ kind: 'token-bucket', amount: 10 })
    await store.take('a', [bucket])
    await store.settle('a', [{ claim: bucket, used: 15 }])
    await clock.advance(1000)

    const after = await store.take('b', [{ ...bucket, amount: 6 }])

    expect(after).toMatchObject({ granted: false, remaining: [5], retryAfterMs: 100 })
  })

  it('ends what is concurrent, once', async () => {
    const store = make(testClock())
    const slot = claim({ kind: 'concurrency', limit: 1, windowMs: 0 })
    await store.take('a', [slot])

    expect(await store.take('b', [slot])).toMatchObject({ granted: false })
    await store.settle('a', [{ claim: slot, used: 1 }])
    await store.settle('a', [{ claim: slot, used: 1 }])

    expect(await store.take('b', [slot])).toMatchObject({ granted: true })
    expect(await store.take('c', [slot])).toMatchObject({ granted: false })
  })

  it('lets nothing or less through for as long as the provider says', async () => {
    const clock = testClock()
    const store = make(clock)
    await store.restrict([
      { claim: claim({ key: 'closed' }), remaining: 0, forMs: 300 },
      { claim: claim({ key: 'less' }), remaining: 2, forMs: 300 },
      { claim: claim({ key: 'bucket', kind: 'token-bucket' }), remaining: 2, forMs: 300 },
    ])
    const closed = claim({ key: 'closed' })
    const less = claim({ key: 'less', amount: 3 })
    const bucket = claim({ key: 'bucket', kind: 'token-bucket', amount: 3 })

    expect(await store.take('a', [closed])).toMatchObject({ granted: false, retryAfterMs: 300 })
    expect(await store.take('a', [less])).toMatchObject({ granted: false, retryAfterMs: 300 })
    expect(await store.take('a', [bucket])).toMatchObject({ granted: false, retryAfterMs: 100 })
    await clock.advance(300)
    expect(await store.take('a', [closed, less, bucket])).toMatchObject({ granted: true })
  })
})

it('memory does not grow with keys that are not used any more', async () => {
  let now = 0
  const store = memoryLimitStore({ clock: { now: () => now } })
  const before = process.memoryUsage().heapUsed

  for (let turn = 0; turn < 200_000; turn++) {
    now += 10
    await store.take('a', [claim({ key: `key ${turn}` })])
  }

  expect(process.memoryUsage().heapUsed - before).toBeLessThan(30_000_000)
})

describe.skipIf(redis === undefined)('leases in Redis', () => {
  it('end by themselves, unless they are renewed', async () => {
    const clock = testClock()
    const store = inRedis(clock)
    const slot = claim({ kind: 'concurrency', limit: 2, windowMs: 0 })
    await store.take('lives', [slot])
    await store.take('dies', [slot])

    await clock.advance(400)
    await store.renew!('lives', [slot])
    expect(await store.take('c', [slot])).toMatchObject({ granted: false })
    await clock.advance(100)

    expect(await store.take('c', [slot])).toMatchObject({ granted: true, remaining: [0] })
    expect(await store.take('d', [slot])).toMatchObject({ granted: false })
  })

  it('leave no key behind', async () => {
    const own = ownPrefix()
    const store = redisLimitStore(redis!, { prefix: own })
    await store.take('a', [claim({ windowMs: 100 }), claim({ key: 'b', kind: 'token-bucket' })])
    const keys = await redis!.keys(`{${own}}*`)

    const times = await Promise.all(keys.map((key) => redis!.pttl(key)))

    expect(keys).toHaveLength(3)
    for (const ms of times) expect(ms).toBeGreaterThan(0)
    await removeKeys(redis!, own)
  })
})

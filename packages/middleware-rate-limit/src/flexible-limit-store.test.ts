import { afterAll, describe, expect, it } from 'vitest'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { failure, limitedAgent } from './limited-agent.test-helper.ts'
import type { FlexibleLimiterOptions } from './index.ts'
import { flexibleLimitStore, rateLimit } from './index.ts'
import { ownPrefix, realRedis } from './real-redis.test-helper.ts'

const redis = realRedis()
afterAll(() => redis?.disconnect())

const makes: [string, (options: FlexibleLimiterOptions) => RateLimiterMemory | RateLimiterRedis][] =
  [['in memory', (options) => new RateLimiterMemory(options)]]
if (redis !== undefined) {
  makes.push(['in Redis', (options) => new RateLimiterRedis({ storeClient: redis, ...options })])
}

/** For a busy machine: a store that takes longer limits nothing. */
const storeTimeoutMs = 60_000

describe.each(makes)('limiters of rate-limiter-flexible %s', (_, make) => {
  it('hold the limit of a fixed window', async () => {
    const key = ownPrefix()
    const limits = [{ unit: 'requests', limit: 3, windowMs: 60_000 } as const]
    const store = flexibleLimitStore(make)
    const { agent } = limitedAgent(
      rateLimit({ limits, store, key: () => key, onLimit: 'reject', storeTimeoutMs }),
    )
    const runs = Array.from({ length: 8 }, () => agent.run('Hi').catch((error: unknown) => error))

    const outcomes = await Promise.all(runs)

    expect(outcomes.filter((outcome) => !(outcome instanceof Error))).toHaveLength(3)
    expect(await failure(agent.run('Hi'))).toMatchObject({ unit: 'requests', remaining: 0 })
  })

  it('settle what a call has used', async () => {
    const key = ownPrefix()
    const limits = [
      { unit: 'totalTokens', limit: 100, windowMs: 60_000 } as const,
      { unit: 'requests', limit: 2, windowMs: 60_000 } as const,
    ]
    const { agent } = limitedAgent(
      rateLimit({
        limits,
        store: flexibleLimitStore(make),
        key: () => key,
        estimate: ({ run }) => ({ totalTokens: Number(run.data) }),
        onLimit: 'reject',
        storeTimeoutMs,
      }),
      { totalTokens: 30 },
    )

    await agent.run('Hi', { data: 90 })
    const tooMuch = await failure(agent.run('Hi', { data: 71 }))
    await agent.run('Hi', { data: 70 })
    const tooMany = await failure(agent.run('Hi', { data: 1 }))

    expect(tooMuch).toMatchObject({ unit: 'totalTokens' })
    expect(tooMany).toMatchObject({ unit: 'requests' })
  })
})

it('what it cannot count is refused when the limiter is made', () => {
  const store = flexibleLimitStore((options) => new RateLimiterMemory(options))

  expect(() => rateLimit({ limits: [{ unit: 'concurrency', limit: 1 }], store })).toThrow(
    'rateLimit: `limits.0.unit` must be one that the store can count',
  )
  expect(() =>
    rateLimit({
      limits: [{ unit: 'requests', limit: 1, windowMs: 1000 }],
      store,
      algorithm: 'token-bucket',
    }),
  ).toThrow('rateLimit: `algorithm` must be one of fixed-window')
})

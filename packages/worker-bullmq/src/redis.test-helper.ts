import { Redis } from 'ioredis'
import { describe } from 'vitest'

/** A Redis to test with: `REDIS_URL`, else the usual place on this machine. */
export const redisUrl: string = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379'

async function isThere(): Promise<boolean> {
  const redis = new Redis(redisUrl, { lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return true
  } catch {
    return false
  } finally {
    redis.disconnect()
  }
}

const hasRedis = await isThere()
if (!hasRedis && process.env['CI'] !== 'true') {
  console.warn(`worker-bullmq: SKIPPED, there is no Redis at ${redisUrl}; set REDIS_URL`)
}

/** Skips where there is no Redis; in CI there must be one. */
export const describeWithRedis: typeof describe.skip =
  hasRedis || process.env['CI'] === 'true' ? describe : describe.skip

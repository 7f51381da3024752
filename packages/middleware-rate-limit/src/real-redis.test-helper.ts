import { Redis } from 'ioredis'

/**
 * A connection to a real Redis, of `REDIS_URL` or at the usual address. Without one the tests that
 * need it are skipped, loudly; in CI they fail.
 */
export async function realRedis(): Promise<Redis | undefined> {
  const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379'
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return redis
  } catch (error) {
    if (process.env['CI'] === 'true') throw error
    console.warn('NO REDIS: everything about many processes is NOT tested. Set REDIS_URL.')
    return undefined
  }
}

/** A prefix that no other test has. */
export function ownPrefix(): string {
  return `lamella-test-${crypto.randomUUID()}`
}

export async function removeKeys(redis: Redis, prefix: string): Promise<void> {
  const keys = await redis.keys(`{${prefix}}*`)
  if (keys.length > 0) await redis.del(keys)
}

import { Redis } from 'ioredis'
import { hasRedis, redisUrl } from '../../../tests/support/real-redis.ts'

/** A connection to a real Redis, where there is one. */
export function realRedis(): Redis | undefined {
  return hasRedis ? new Redis(redisUrl) : undefined
}

/** A prefix that no other test has. */
export function ownPrefix(): string {
  return `lamella-test-${crypto.randomUUID()}`
}

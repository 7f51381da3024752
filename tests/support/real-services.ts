import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { afterAll } from 'vitest'
import { hasPostgres, postgresUrl } from './real-postgres.ts'
import { hasRedis, redisUrl } from './real-redis.ts'

/** A place of its own in Redis and PostgreSQL, where they run, which is emptied after the tests of the file. */
export function realServices(name: string) {
  const own = `${name}_${crypto.randomUUID().replaceAll('-', '')}`
  const redis = hasRedis ? new Redis(redisUrl) : undefined
  const pool = hasPostgres ? new Pool({ connectionString: postgresUrl, max: 6 }) : undefined
  afterAll(async () => {
    const keys = (await redis?.keys(`{${own}*`)) ?? []
    if (keys.length > 0) await redis!.del(keys)
    redis?.disconnect()
    await pool?.query(`DROP SCHEMA IF EXISTS ${own} CASCADE`)
    await pool?.end()
  })
  return { own, redis, pool }
}

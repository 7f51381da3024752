// A store in Redis, on a connection that others use too: a claim that only one of many machines gets, a limit
// for all of them, and values that are encrypted at rest. Needs a Redis, at REDIS_URL or on this machine.
import assert from 'node:assert/strict'
import { aesCipher, encryptedStore } from '@lamella/store'
import { createId } from '@lamella/core'
import { redisStore } from '@lamella/store-redis'
import { Redis } from 'ioredis'

const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379'
const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
const hasRedis = await redis
  .on('error', () => {})
  .connect()
  .then(
    () => true,
    () => false,
  )
if (!hasRedis) {
  assert.notEqual(process.env['CI'], 'true', `there is no Redis at ${url}`)
  console.log(`SKIPPED: there is no Redis at ${url}; set REDIS_URL`)
  process.exit(0)
}

const namespace = createId('example')
const machines = Array.from({ length: 8 }, () => redisStore(redis, { namespace }))

const claims = await Promise.all(
  machines.map((store, index) =>
    store.compareAndSet('refund-1', undefined, `machine ${index}`, { ttlMs: 60_000 }),
  ),
)
console.log(`claims that were granted: ${claims.filter(Boolean).length} of ${claims.length}`)

const claim = {
  key: 'model',
  kind: 'sliding-window',
  limit: 5,
  windowMs: 60_000,
  amount: 1,
} as const
const grants = await Promise.all(
  machines.map(async (store, index) => store.limits.take(`call ${index}`, [claim])),
)
const passed = grants.filter(({ granted }) => granted).length
console.log(`calls that were let through: ${passed} of ${grants.length}`)

const secret = crypto.getRandomValues(new Uint8Array(32))
const sealed = encryptedStore(machines[0]!, aesCipher(secret))
await sealed.set('note', 'only for us', { ttlMs: 60_000 })
const kept = await redis.get(`{${namespace}}:entry:note`)
console.log(`Redis keeps ${kept?.slice(0, 7)}…, we read: ${String(await sealed.get('note'))}`)

assert.equal(claims.filter(Boolean).length, 1)
assert.equal(passed, 5)
assert.ok(!kept?.includes('only for us'))
await redis.del(await redis.keys(`{${namespace}}*`))
redis.disconnect()

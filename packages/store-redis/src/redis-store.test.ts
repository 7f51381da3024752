import type { Store } from '@lamella/core'
import { describeContract, storeContract, testClock } from '@lamella/testing'
import { FaultProxy } from '@lamella/testing/fault-proxy'
import { Redis } from 'ioredis'
import { afterAll, expect, it } from 'vitest'
import { describeWithRedis, hasRedis, redisUrl } from '../../../tests/support/real-redis.ts'
import { redisStore } from './index.ts'

const redis = hasRedis ? new Redis(redisUrl) : undefined
const own = `test-${crypto.randomUUID()}`
let made = 0
const newNamespace = (): string => `${own}-${++made}`
const keysOf = (namespace: string): Promise<string[]> => redis!.keys(`{${namespace}*`)

afterAll(async () => {
  if (redis === undefined) return
  const keys = await keysOf(own)
  if (keys.length > 0) await redis.del(keys)
  redis.disconnect()
})

/** Shortens what entries have left to live: time passes. */
async function age(namespace: string, ms: number): Promise<void> {
  const keys = [
    ...(await redis!.keys(`{${namespace}}:entry:*`)),
    ...(await redis!.keys(`{${namespace}}:list:*`)),
  ]
  for (const key of keys) {
    const left = await redis!.pttl(key)
    if (left >= 0) await redis!.pexpire(key, left - ms)
  }
}

const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 1))
const scoresOf = async ({ lists }: Store) =>
  (await lists.range('list', { limit: 9 })).map(({ score }) => score)

/** A client that sends its commands again until it has the replies. */
async function flaky() {
  const { hostname, port } = new URL(redisUrl)
  const proxy = await FaultProxy.start({ host: hostname, port: Number(port || 6379) })
  const client = new Redis(proxy.port, { retryStrategy: () => 5, maxRetriesPerRequest: null })
  client.on('error', () => {})
  return { proxy, client }
}

const suite = storeContract({
  name: 'a Redis store',
  create: async () => {
    const namespace = newNamespace()
    const clock = testClock()
    const { hostname, port } = new URL(redisUrl)
    const proxy = await FaultProxy.start({ host: hostname, port: Number(port || 6379) })
    const url = `redis://127.0.0.1:${proxy.port}`
    const stores = [redisStore(url, { namespace, clock, timeoutMs: 5000 })]
    return {
      store: stores[0]!,
      settleMs: 6500,
      advance: async (ms) => {
        await clock.advance(ms)
        await age(namespace, ms)
      },
      again: () => {
        stores.push(redisStore(redis!, { namespace, clock }))
        return stores.at(-1)!
      },
      fail: (fault) => void (proxy.fault = fault),
      corrupt: (key) => redis!.set(`{${namespace}}:entry:${key}`, 'not { JSON').then(() => {}),
      close: async () => {
        for (const store of stores) await store.close()
        await proxy.close()
      },
    }
  },
})

describeWithRedis('Redis', () => {
  describeContract(suite, { describe: (_, body) => body(), it: it as never })

  it('leaves a client that others use open', async () => {
    const store = redisStore(redis!, { namespace: newNamespace() })
    await store.set('key', 1)

    await store.close()

    expect(await redis!.ping()).toBe('PONG')
    expect(await store.get('key')).toBe(1)
  })

  it('keeps namespaces apart', async () => {
    const [one, two] = [newNamespace(), newNamespace()].map((namespace) =>
      redisStore(redis!, { namespace }),
    )
    await one!.set('key', 1)

    expect(await two!.get('key')).toBeUndefined()
  })

  it('rejects values and keys that are too large', async () => {
    const store = redisStore(redis!, { namespace: newNamespace(), maxValueBytes: 20 })

    await expect(store.set('key', 'x'.repeat(19))).rejects.toMatchObject({ code: 'store_limit' })
    await expect(store.set('x'.repeat(1025), 1)).rejects.toMatchObject({ code: 'store_limit' })
  })

  it('keeps limits and namespaces apart, whatever they are called', async () => {
    const namespace = newNamespace()
    const store = redisStore(redis!, { namespace })
    const inside = redisStore(redis!, { namespace: `${namespace}}:entry:a` })
    const claim = { kind: 'sliding-window', limit: 2, windowMs: 60_000, amount: 1 } as const
    const take = (id: string, key: string) => store.limits.take(id, [{ ...claim, key }])

    await take('1', 'acme:times')
    const granted = []
    for (const id of ['2', '3', '4']) granted.push((await take(id, 'acme')).granted)
    await store.set('a}:entry:key', 1)

    expect(granted).toEqual([true, true, false])
    expect(await inside.get('key')).toBeUndefined()
  })

  it('a take that is settled after its window does not count any more', async () => {
    const clock = testClock()
    const { limits } = redisStore(redis!, { namespace: newNamespace(), clock })
    const claim = { key: 'k', kind: 'sliding-window', limit: 3, windowMs: 1000, amount: 1 } as const
    await limits.take('first', [claim])
    await clock.advance(600)
    await limits.take('second', [claim])
    await clock.advance(400)
    await limits.settle('first', [{ claim, used: 1 }])

    expect(await limits.take('third', [claim])).toEqual({ granted: true, remaining: [1] })
  })

  it('leaves nothing behind that does not expire, but what was written to stay', async () => {
    const namespace = newNamespace()
    const store = redisStore(redis!, { namespace })
    const claim = { key: 'l', limit: 5, windowMs: 100, amount: 1 }
    await store.increment('count', 1, { ttlMs: 1000 })
    await store.compareAndSet('claim', undefined, 1, { ttlMs: 1000 })
    for (const kind of ['sliding-window', 'token-bucket', 'concurrency'] as const) {
      await store.limits.take('call', [{ ...claim, key: kind, kind }])
    }

    const keys = await keysOf(namespace)
    const times = await Promise.all(keys.map((key) => redis!.pttl(key)))

    expect(keys.length).toBeGreaterThan(5)
    expect(Math.min(...times)).toBeGreaterThan(0)
  })

  it('a step that a client sends again has the effect and the result of one', async () => {
    const { proxy, client } = await flaky()
    const store = redisStore(client, { namespace: newNamespace() })
    await store.set('warm', 1)
    await store.increment('warm', 1)
    await store.compareAndSet('warm', 2, 0)

    proxy.fault = 'lose-replies'
    const works = Promise.all([
      store.increment('sum', 1),
      store.compareAndSet('claim', undefined, 'mine'),
    ])
    while (proxy.lost === 0) await nextTurn()
    proxy.fault = 'none'

    expect(await works).toEqual([1, true])
    expect([await store.get('sum'), await store.get('claim')]).toEqual([1, 'mine'])
    client.disconnect()
    await proxy.close()
  })

  it.each<[string, (store: Store) => Promise<unknown>, (client: Store) => Promise<unknown>]>([
    ['set', (store) => store.set('key', 'mine'), (store) => store.get('key')],
    ['delete', (store) => store.delete('key'), (store) => store.get('key')],
    ['add to a list', ({ lists }) => lists.add('list', 'item', 1), scoresOf],
    ['remove from a list', ({ lists }) => lists.remove('list', 'item'), scoresOf],
  ])('%s that a client sends again leaves what others wrote since', async (_, write, read) => {
    const { proxy, client } = await flaky()
    const namespace = newNamespace()
    const [store, other] = [redisStore(client, { namespace }), redisStore(redis!, { namespace })]
    const before = async (): Promise<unknown> => {
      await other.set('key', 'old')
      await other.lists.add('list', 'item', 0)
      return read(other)
    }
    const old = await before()
    await write(store)
    await before()

    proxy.fault = 'lose-replies'
    const writing = write(store)
    while (JSON.stringify(await read(other)) === JSON.stringify(old)) await nextTurn()
    proxy.fault = 'refuse'
    await other.set('key', 'newer')
    await other.lists.add('list', 'item', 2)
    proxy.fault = 'none'
    await writing

    expect([await other.get('key'), await scoresOf(other)]).toEqual(['newer', [2]])
    client.disconnect()
    await proxy.close()
  })

  it('works on after Redis has forgotten its scripts, as after a restart', async () => {
    const store = redisStore(redis!, { namespace: newNamespace() })
    await store.increment('sum', 1)

    await redis!.script('FLUSH')

    expect(await store.increment('sum', 1)).toBe(2)
    expect(await store.compareAndSet('claim', undefined, 1)).toBe(true)
  })

  it('says when Redis is away', async () => {
    const proxy = await FaultProxy.start({ port: 1 })
    proxy.fault = 'refuse'
    const store = redisStore(`redis://127.0.0.1:${proxy.port}`, { timeoutMs: 200 })

    await expect(store.health()).rejects.toThrow(/retries|answer/)

    await store.close()
    await proxy.close()
  })
})

it('names a wrong connection, and does not show it', () => {
  const wrong = { url: 'redis://:password@host' } as never

  expect(() => redisStore(wrong)).toThrow('`connection` must be a URL or a client of ioredis')
  expect(() => redisStore(wrong)).not.toThrow('password')
})

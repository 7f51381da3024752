import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import KeyvRedis from '@keyv/redis'
import type { KeyValueStore, WriteOptions } from '@lamella/core'
import { describeContract, storeContract } from '@lamella/testing'
import { Keyv } from 'keyv'
import { afterAll, describe, expect, it, test } from 'vitest'
import { describeWithRedis, redisUrl } from '../../../../tests/support/real-redis.ts'
import { keyvStore } from '../entries/keyv-store.ts'

const prefix = `lamella-cache-test-${crypto.randomUUID()}`

let count = 0
const newNamespace = (): string => `${prefix}:${count++}`
const open = new Set<Keyv>()

function redisKeyv(namespace: string): Keyv {
  const keyv = new Keyv({ store: new KeyvRedis(redisUrl), namespace })
  open.add(keyv)
  return keyv
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Of the client that a `KeyvRedis` has. */
interface Client {
  keys(pattern: string): Promise<string[]>
  del(keys: string[]): Promise<number>
  pTTL(key: string): Promise<number>
  pExpire(key: string, ms: number): Promise<unknown>
}
const clientOf = (keyv: Keyv): Promise<Client> =>
  (keyv.store as KeyvRedis<string>).getClient() as Promise<unknown> as Promise<Client>

/** A store whose entries live a hundred times as long, and die early when its time passes: it asks no real time. */
function agingStore() {
  const slower = 100
  const namespace = newNamespace()
  const keyv = redisKeyv(namespace)
  const store = keyvStore(keyv)
  const longer = ({ ttlMs }: WriteOptions = {}): WriteOptions => ({
    ttlMs: ttlMs === undefined ? undefined : ttlMs * slower,
  })
  const aging: KeyValueStore = {
    ...store,
    set: (key, value, options) => store.set(key, value, longer(options)),
    increment: (key, by, options) => store.increment!(key, by, longer(options)),
    compareAndSet: (key, expected, value, options) =>
      store.compareAndSet(key, expected, value, longer(options)),
  }
  const advance = async (ms: number): Promise<void> => {
    const client = await clientOf(keyv)
    for (const key of await client.keys(`${namespace}*`)) {
      const left = await client.pTTL(key)
      // Redis removes an entry whose time is over.
      if (left >= 0) await client.pExpire(key, left - ms * slower)
    }
  }
  return { store: aging, advance }
}

// Most of the time is that of Redis passing, so it passes for all tests at once.
describeWithRedis('on Redis', { concurrent: true }, () => {
  const children = new Set<ChildProcess>()

  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    const client = await clientOf(redisKeyv(prefix))
    const keys = await client.keys(`${prefix}*`)
    if (keys.length > 0) await client.del(keys)
    await Promise.all([...open].map((one) => one.disconnect()))
  })

  describeContract(
    storeContract({
      name: 'a Keyv on Redis',
      create: agingStore,
    }),
    { describe, it: it.concurrent },
  )

  test('two stores of one Redis lose no addition', async () => {
    const namespace = newNamespace()
    const stores = [keyvStore(redisKeyv(namespace)), keyvStore(redisKeyv(namespace))]

    const work = stores.flatMap((store) =>
      Array.from({ length: 50 }, () => store.increment!('n', 1)),
    )

    expect(new Set(await Promise.all(work)).size).toBe(100)
  })

  interface Told {
    readonly model?: number
    readonly texts?: readonly string[]
  }

  async function startProcess(args: readonly (string | number)[]) {
    const helper = fileURLToPath(new URL('redis-process.test-helper.ts', import.meta.url))
    const child = fork(helper, [redisUrl, ...args].map(String), {
      execArgv: ['--conditions=@lamella/source'],
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'lamella-compile-cache') },
    })
    children.add(child)
    const told: Told[] = []
    await once(child, 'message')
    child.on('message', (message) => told.push(message as Told))
    const until = async <Key extends keyof Told>(key: Key): Promise<NonNullable<Told[Key]>> => {
      for (;;) {
        const found = told.find((entry) => entry[key] !== undefined)?.[key]
        if (found !== undefined) return found
        await once(child, 'message')
      }
    }
    return { child, told, until, go: () => child.send('go') }
  }

  test('1,000 calls of eight processes reach the model once', async () => {
    const args = [newNamespace(), 125, 300]
    // The first one compiles for all.
    const first = await startProcess(args)
    const others = await Promise.all(Array.from({ length: 7 }, () => startProcess(args)))
    const processes = [first, ...others]

    for (const { go } of processes) go()
    const texts = (await Promise.all(processes.map(({ until }) => until('texts')))).flat()

    expect(texts).toHaveLength(1000)
    expect(new Set(texts).size).toBe(1)
    expect(processes.flatMap(({ told }) => told).filter(({ model }) => model).length).toBe(1)
  })

  test('when the process that makes the call is killed, another makes it', async () => {
    const namespace = newNamespace()
    // It is renewed after a third of it, also by a process that stands still for some seconds.
    const leaseMs = 9000
    const [doomed, other] = await Promise.all([
      startProcess([namespace, 1, 600_000, leaseMs]),
      startProcess([namespace, 10, 0, leaseMs]),
    ])
    doomed.go()
    await doomed.until('model')
    other.go()
    await sleep(leaseMs + 1000)
    const before = other.told.length

    doomed.child.kill('SIGKILL')
    const texts = await other.until('texts')

    expect(before).toBe(0)
    expect(texts).toEqual(Array.from({ length: 10 }, () => `from ${other.child.pid}`))
    expect(other.told.filter(({ model }) => model)).toHaveLength(1)
  })
})

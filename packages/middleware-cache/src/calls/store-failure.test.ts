import type { KeyValueStore } from '@lamella/core'
import { Agent, memoryStore } from '@lamella/core'
import { scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { cache } from './cache.ts'
import type { CacheEvent } from './cache-event.ts'
import type { CacheOptions } from './cache-options.ts'

function setUp(options: CacheOptions) {
  const events: CacheEvent[] = []
  const client = scriptedClient(({ index }) => `Answer ${index}.`)
  const middleware = cache({ onEvent: (event) => events.push(event), ...options })
  const reasons = () =>
    events.filter(({ outcome }) => outcome === 'error').map(({ reason }) => reason)
  return { agent: new Agent({ client, middleware }), client, reasons }
}

const down = (): Promise<never> => Promise.reject(new Error('redis://user:pass@host is down'))

describe('a store that fails', () => {
  test('costs the cache and not the call', async () => {
    const store: KeyValueStore = {
      get: down,
      set: down,
      delete: down,
      increment: down,
      compareAndSet: down,
    }
    const { agent, reasons } = setUp({ store })

    const response = await agent.run('Hello')

    expect(response.text).toBe('Answer 0.')
    expect(response.metadata['cache']).toMatchObject({ hit: false, stored: false })
    expect(reasons()).toEqual(['read', 'lease', 'write'])
  })

  test('says so in events of the run without the words of the error', async () => {
    const told: unknown[] = []
    const { agent } = setUp({ store: { ...memoryStore(), get: down } })

    await agent.run('Hello', { onEvent: ({ data }) => told.push(data) })

    expect(told).toContainEqual(expect.objectContaining({ outcome: 'error', reason: 'read' }))
    expect(JSON.stringify(told)).not.toContain('pass')
  })

  test('is given up after `storeTimeoutMs`', async () => {
    const clock = testClock(1_000_000)
    const hangs = (): Promise<never> => new Promise(() => {})
    const store = { ...memoryStore(), get: hangs, set: hangs, compareAndSet: hangs }
    const { agent, reasons } = setUp({ store, clock, storeTimeoutMs: 200 })
    const run = agent.run('Hello')

    await clock.advance(200)
    await clock.advance(200)
    await clock.advance(200)

    expect((await run).text).toBe('Answer 0.')
    expect(reasons()).toEqual(['read', 'lease', 'write'])
    expect(clock.sleeping).toBe(0)
  })

  test('is not waited for when the run is aborted', async () => {
    const clock = testClock(1_000_000)
    const store = { ...memoryStore(), get: () => new Promise(() => {}) }
    const { agent } = setUp({ store, clock })
    const aborted = new AbortController()
    const run = agent.run('Hello', { signal: aborted.signal })

    const reason = new Error('left')
    setTimeout(() => aborted.abort(reason), 0)

    await expect(run).rejects.toBe(reason)
    expect(clock.sleeping).toBe(0)
  })

  test.each([
    null,
    'text',
    { version: 2 },
    { version: 1, storedAt: 1, ttlMs: 1e12, value: null },
    { version: 1, storedAt: 1, ttlMs: 1e15, value: { messages: 'Hi', usage: {}, metadata: {} } },
    { version: 1, storedAt: 1, ttlMs: 1e15, value: { messages: [1], usage: {}, metadata: {} } },
  ])('an entry that is none counts as missing: %j', async (entry) => {
    const { agent } = setUp({ store: { ...memoryStore(), get: async () => entry } })

    expect((await agent.run('Hello')).text).toBe('Answer 0.')
  })
})

describe('codec', () => {
  const reverse = (text: string): string => text.split('').toReversed().join('')

  test('stands between entries and the store', async () => {
    const written: unknown[] = []
    const inner = memoryStore()
    const store: KeyValueStore = {
      ...inner,
      set(key, value, options) {
        written.push(value)
        return inner.set(key, value, options)
      },
    }
    const { agent, client } = setUp({
      store,
      codec: { encode: reverse, decode: async (t) => reverse(t) },
    })
    await agent.run('Hello')

    const { text } = await agent.run('Hello')

    expect(text).toBe('Answer 0.')
    expect(client.requests).toHaveLength(1)
    expect(written).toEqual([expect.stringContaining('.0 rewsnA')])
  })

  test('an entry that it cannot read counts as missing', async () => {
    const fails = (): never => {
      throw new Error('wrong key')
    }
    const { agent, reasons } = setUp({ codec: { encode: (t) => t, decode: fails } })
    await agent.run('Hello')

    expect((await agent.run('Hello')).text).toBe('Answer 1.')
    expect(reasons()).toEqual(['read'])
  })
})

describe('waitUntil', () => {
  test('is given the write, which the call then does not wait for', async () => {
    const work: Promise<unknown>[] = []
    let write = (): void => {}
    const store: KeyValueStore = {
      ...memoryStore(),
      set: () => new Promise((resolve) => (write = resolve)),
    }
    const { agent } = setUp({ store, waitUntil: (promise) => work.push(promise) })

    const { text } = await agent.run('Hello')
    write()

    expect(text).toBe('Answer 0.')
    await expect(Promise.all(work)).resolves.toEqual([true])
  })
})

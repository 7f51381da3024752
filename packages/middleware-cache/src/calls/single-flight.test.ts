import type { ChatMiddleware, KeyValueStore } from '@lamella/core'
import { Agent, chatMiddleware, memoryStore, MiddlewareTermination } from '@lamella/core'
import type { TestClock } from '@lamella/testing'
import { runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { cache } from './cache.ts'
import type { CacheOptions } from './cache-options.ts'

/** A model that answers when it is told to. */
function gatedModel() {
  const waiting: ((reply: string | Error) => void)[] = []
  const client = scriptedClient(
    () => new Promise<string | Error>((resolve) => waiting.push(resolve)),
  )
  const answer = (reply: string | Error): void => waiting.shift()?.(reply)
  return { client, answer }
}

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

function setUp(options: CacheOptions = {}) {
  const { client, answer } = gatedModel()
  const clock = testClock(1_000_000)
  return {
    client,
    answer,
    clock,
    agent: new Agent({ client, middleware: cache({ clock, ...options }) }),
  }
}

describe('single flight', () => {
  test.each(runModes)('1,000 calls at once are made once, %s', async (mode) => {
    const { agent, client, answer } = setUp()
    const runs = Array.from({ length: 1000 }, () => runIn(mode, agent))
    await tick()

    answer('One answer.')
    const responses = await Promise.all(runs)

    expect(client.requests).toHaveLength(1)
    expect(new Set(responses.map(({ text }) => text))).toEqual(new Set(['One answer.']))
    const infos = responses.map(({ metadata }) => metadata['cache'] as { shared?: boolean })
    expect(infos.filter(({ shared }) => shared).length).toBe(999)
    expect(new Set(responses.map(({ messages }) => messages[0])).size).toBe(1000)
  })

  test('1,000 different calls at once do not wait for each other', async () => {
    const client = scriptedClient(
      ({ messages }) => `re: ${JSON.stringify(messages.at(-1)?.contents)}`,
    )
    const agent = new Agent({ client, middleware: cache() })

    const runs = await Promise.all(Array.from({ length: 1000 }, (_, n) => agent.run(`q${n}`)))

    expect(new Set(runs.map(({ text }) => text)).size).toBe(1000)
  })

  test.each(runModes)(
    'when the one that makes the call is aborted, the next makes it, %s',
    async (mode) => {
      const { agent, client, answer } = setUp()
      const aborted = new AbortController()
      const first = runIn(mode, agent, { signal: aborted.signal }).catch((error: unknown) => error)
      await tick()
      const others = [runIn(mode, agent), runIn(mode, agent)]
      await tick()

      const reason = new Error('left')
      aborted.abort(reason)
      await tick()
      answer('late for nobody')
      answer('Hi.')
      const texts = (await Promise.all(others)).map(({ text }) => text)

      expect(await first).toBe(reason)
      expect(texts).toEqual(['Hi.', 'Hi.'])
      expect(client.requests).toHaveLength(2)
    },
  )

  test('when the call fails or may not be kept, the others make theirs at once', async () => {
    const { agent, client, answer } = setUp()
    const failing = agent.run('Hello').catch((error: unknown) => error)
    await tick()
    const others = [agent.run('Hello'), agent.run('Hello')]
    await tick()

    const boom = new Error('boom')
    answer(boom)
    await tick()
    const made = client.requests.length
    answer('One.')
    answer('Two.')
    const texts = (await Promise.all(others)).map(({ text }) => text)

    expect(await failing).toBe(boom)
    expect(made).toBe(3)
    expect(texts).toEqual(['One.', 'Two.'])
  })

  test('when what is inside ends the run, the others do not wait in line', async () => {
    const { client, answer } = gatedModel()
    const ends = chatMiddleware('ends', async (context, callNext) => {
      await callNext()
      throw new MiddlewareTermination('not for others', { result: context.result })
    })
    const agent = new Agent({ client, middleware: [cache(), ends] })
    const runs = Array.from({ length: 3 }, () => agent.run('Hello'))
    await tick()

    answer('One.')
    await tick()
    const made = client.requests.length
    answer('Two.')
    answer('Three.')

    expect(made).toBe(3)
    expect((await Promise.all(runs)).map(({ text }) => text)).toEqual(['One.', 'Two.', 'Three.'])
  })

  test('when the reader of the stream leaves, the next makes the call', async () => {
    const { agent, client, answer } = setUp()
    const stream = agent.run('Hello', { stream: true })
    const reading = stream[Symbol.asyncIterator]()
    const first = reading.next()
    await tick()
    const second = agent.run('Hello')
    answer('One long answer.')
    await first
    await reading.return?.()
    await tick()

    answer('Hi.')

    expect((await second).text).toBe('Hi.')
    expect(client.requests).toHaveLength(2)
  })

  test('a reader of the stream that pauses holds nobody up for longer than `stallMs`', async () => {
    const { agent, client, clock, answer } = setUp({ singleFlight: { stallMs: 1000 } })
    const stream = agent.run('Hello', { stream: true })
    const reading = stream[Symbol.asyncIterator]()
    const first = reading.next()
    await tick()
    const others = [agent.run('Hello'), agent.run('Hello')]
    answer('One long answer.')
    await first

    await clock.advance(999)
    const early = client.requests.length
    await clock.advance(1)
    await tick()
    answer('Hi.')

    expect(early).toBe(1)
    expect((await Promise.all(others)).map(({ text }) => text)).toEqual(['Hi.', 'Hi.'])
    expect(client.requests).toHaveLength(2)
    while ((await reading.next()).done !== true);
    expect((await stream.finalResponse()).text).toBe('One long answer.')
    expect(clock.sleeping).toBe(0)
  })

  test('a model that is slow in the middle of its answer is waited for', async () => {
    const clock = testClock()
    const updates = ['One ', 'answer.', { finishReason: 'stop' as const }]
    const client = scriptedClient([{ updates, delayMs: 2000 }], { clock })
    const agent = new Agent({
      client,
      middleware: cache({ clock, singleFlight: { stallMs: 1000 } }),
    })
    const reading = agent.run('Hello', { stream: true }).finalResponse()
    await tick()
    const second = agent.run('Hello')
    await clock.advance(10_000)

    expect([(await reading).text, (await second).text]).toEqual(['One answer.', 'One answer.'])
    expect(client.requests).toHaveLength(1)
  })

  test('a call that is only to be answered from the cache waits for none', async () => {
    const { agent, client, answer } = setUp()
    const first = agent.run('Hello')
    await tick()

    const second = agent.run('Hello', { options: { cache: 'only-if-cached' } })

    await expect(second).rejects.toMatchObject({ code: 'cache_miss' })
    answer('Hi.')
    await first
    expect(client.requests).toHaveLength(1)
  })

  test('one that waits for another hears of its own abort', async () => {
    const { agent, answer } = setUp()
    const first = agent.run('Hello')
    await tick()
    const aborted = new AbortController()
    const second = agent.run('Hello', { signal: aborted.signal })
    await tick()

    const reason = new Error('left')
    aborted.abort(reason)

    await expect(second).rejects.toBe(reason)
    answer('Hi.')
    expect((await first).text).toBe('Hi.')
  })

  test('nobody waits longer than `waitMs` for another', async () => {
    const { agent, client, clock, answer } = setUp({ singleFlight: { waitMs: 5000 } })
    const first = agent.run('Hello')
    await tick()
    const second = agent.run('Hello')
    await clock.advance(5000)

    answer('slow')
    answer('own')

    expect([(await first).text, (await second).text]).toEqual(['slow', 'own'])
    expect(client.requests).toHaveLength(2)
    expect(clock.sleeping).toBe(0)
  })

  test('without it every call is made', async () => {
    const { agent, client, answer } = setUp({ singleFlight: false })
    const runs = [agent.run('Hello'), agent.run('Hello')]
    await tick()

    answer('One.')
    answer('Two.')

    expect((await Promise.all(runs)).map(({ text }) => text)).toEqual(['One.', 'Two.'])
    expect(client.requests).toHaveLength(2)
  })
})

describe('single flight of two processes', () => {
  /** Two pieces of middleware share a store as two processes do. */
  function twoProcesses(store: KeyValueStore, clock: TestClock) {
    const model = gatedModel()
    const middleware = (): ChatMiddleware => cache({ store, clock, storeTimeoutMs: 60_000 })
    const agents = [middleware(), middleware()].map(
      (entry) => new Agent({ client: model.client, middleware: entry }),
    )
    return { ...model, one: agents[0]!, two: agents[1]! }
  }

  test('the second waits for what the first keeps', async () => {
    const clock = testClock(1_000_000)
    const { one, two, client, answer } = twoProcesses(memoryStore({ clock }), clock)
    const first = one.run('Hello')
    await tick()
    const second = two.run('Hello')
    await clock.advance(30_000)

    answer('Hi.')
    await first
    await clock.advance(100)

    expect((await second).text).toBe('Hi.')
    expect((await second).metadata['cache']).toMatchObject({ hit: true, shared: true })
    expect(client.requests).toHaveLength(1)
  })

  test('a lease whose holder is dead ends, and the second makes the call', async () => {
    const clock = testClock(1_000_000)
    const store = memoryStore({ clock })
    const dead: KeyValueStore = {
      ...store,
      // It took the lease and is not heard of again.
      compareAndSet: (key, before, after, options) =>
        before === undefined
          ? store.compareAndSet(key, before, after, options)
          : new Promise(() => {}),
    }
    const hung = twoProcesses(dead, clock)
    const living = twoProcesses(store, clock)
    void hung.one.run('Hello')
    await tick()
    const second = living.one.run('Hello')
    await clock.advance(9000)
    const before = living.client.requests.length
    await clock.advance(2000)
    living.answer('Hi.')

    expect(before).toBe(0)
    expect((await second).text).toBe('Hi.')
  })

  test('one renewal that fails does not end the lease', async () => {
    const clock = testClock(1_000_000)
    const store = memoryStore({ clock })
    let renewals = 0
    const failing: KeyValueStore = {
      ...store,
      compareAndSet: (key, before, ...given) =>
        before !== undefined && ++renewals === 1
          ? Promise.reject(new Error('down'))
          : store.compareAndSet(key, before, ...given),
    }
    const { one, two, client, answer } = twoProcesses(failing, clock)
    const first = one.run('Hello')
    await tick()
    const second = two.run('Hello')
    await clock.advance(30_000)
    const made = client.requests.length

    answer('Hi.')
    await first
    await clock.advance(100)

    expect(made).toBe(1)
    expect((await second).text).toBe('Hi.')
    expect(renewals).toBeGreaterThan(2)
    await clock.advance(1)
    expect(clock.sleeping).toBe(0)
  })

  test('a store that fails after the lease was taken leaves nothing running', async () => {
    const clock = testClock(1_000_000)
    const store = memoryStore({ clock })
    let reads = 0
    const failing: KeyValueStore = {
      ...store,
      get: (key) => (++reads === 2 ? Promise.reject(new Error('down')) : store.get(key)),
    }
    const { one, answer } = twoProcesses(failing, clock)
    const run = one.run('Hello')
    await tick()
    answer('Hi.')

    expect((await run).text).toBe('Hi.')
    await clock.advance(1)
    expect(clock.sleeping).toBe(0)
    expect(reads).toBe(2)
  })

  test('when the first is aborted, the second makes the call', async () => {
    const clock = testClock(1_000_000)
    const { one, two, client, answer } = twoProcesses(memoryStore({ clock }), clock)
    const aborted = new AbortController()
    const first = one.run('Hello', { signal: aborted.signal }).catch(() => {})
    await tick()
    const second = two.run('Hello')
    await clock.advance(100)

    aborted.abort()
    await first
    await clock.advance(200)
    answer('nobody')
    answer('Hi.')

    expect((await second).text).toBe('Hi.')
    expect(client.requests).toHaveLength(2)
    await clock.advance(1)
    expect(clock.sleeping).toBe(0)
  })
})

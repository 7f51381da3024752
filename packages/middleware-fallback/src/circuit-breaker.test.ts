import { Agent, chatMiddleware, GuardrailTripped, memoryStore } from '@lamella/core'
import type { KeyValueStore } from '@lamella/core'
import { runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import type { ScriptedStep } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { circuitBreaker, fallback, isCircuitOpenError } from './index.ts'
import type { CircuitBreakerEvent, CircuitBreakerOptions } from './index.ts'
import { failure, rejection } from './failing-run.test-helper.ts'

function setUp(options: CircuitBreakerOptions = {}) {
  const clock = testClock(1_000_000)
  const events: CircuitBreakerEvent[] = []
  const world: { answer: () => ScriptedStep } = { answer: () => failure('server') }
  const client = scriptedClient(
    (request) => {
      const step = world.answer()
      return typeof step === 'function' ? step(request) : step
    },
    { provider: 'one', model: 'm' },
  )
  const middleware = circuitBreaker({
    clock,
    minimum: 4,
    onEvent: (event) => events.push(event),
    ...options,
  })
  return {
    clock,
    events,
    world,
    client,
    middleware,
    agent: new Agent({ client, middleware: middleware }),
  }
}

describe.each(runModes)('circuitBreaker, %s', (mode) => {
  const fail = async (agent: Agent, times: number): Promise<unknown> => {
    let last: unknown
    for (let at = 0; at < times; at++) last = await rejection(runIn(mode, agent))
    return last
  }

  it('opens when half of enough calls failed, and then makes none', async () => {
    const { agent, client, clock, events, world } = setUp()
    world.answer = () => 'Hi.'
    await runIn(mode, agent)
    await runIn(mode, agent)
    world.answer = () => failure('overloaded')
    expect(await fail(agent, 2)).toMatchObject({
      kind: 'overloaded',
      message: 'failed: overloaded',
    })

    const error = await fail(agent, 2)
    await clock.advance(10_000)

    expect(await fail(agent, 1)).toMatchObject({ retry: { afterMs: 20_000 } })
    expect(isCircuitOpenError(error)).toBe(true)
    expect(error).toMatchObject({
      kind: 'overloaded',
      provider: 'one',
      circuit: 'one/m',
      retry: { retryable: false, afterMs: 30_000 },
    })
    expect(client.requests).toHaveLength(4)
    expect(events).toEqual([
      { status: 'opened', circuit: 'one/m', failures: 2, calls: 4, afterMs: 30_000 },
      ...[30_000, 30_000, 20_000].map((afterMs) => ({
        status: 'rejected',
        circuit: 'one/m',
        afterMs,
      })),
    ])
  })

  it('stays closed below the least number of calls, and below the rate', async () => {
    const few = setUp({ minimum: 5 })
    await fail(few.agent, 4)
    expect(few.events).toEqual([])

    const rare = setUp({ failureRate: 0.6 })
    for (let at = 0; at < 10; at++) {
      rare.world.answer = () => (at % 2 === 0 ? 'Hi.' : failure('server'))
      await rejection(runIn(mode, rare.agent))
    }
    expect(rare.events).toEqual([])
  })

  it('forgets calls when the window is over', async () => {
    const { agent, clock, events } = setUp({ windowMs: 10_000 })
    await fail(agent, 3)

    await clock.advance(10_000)
    await fail(agent, 3)

    expect(events).toEqual([])
  })

  it('closes when a call that tries it out goes well, and counts from nothing', async () => {
    const { agent, clock, events, world, client } = setUp()
    await fail(agent, 4)
    await clock.advance(29_999)
    expect(isCircuitOpenError(await fail(agent, 1))).toBe(true)
    await clock.advance(1)

    world.answer = () => 'Back.'
    expect((await runIn(mode, agent)).text).toBe('Back.')
    world.answer = () => failure('server')
    await fail(agent, 3)

    expect(client.requests).toHaveLength(4 + 1 + 3)
    expect(events.map(({ status }) => status)).toEqual(['opened', 'rejected', 'trying', 'closed'])
  })

  it('opens again when the call that tries it out fails', async () => {
    const { agent, clock, events, client } = setUp()
    await fail(agent, 4)
    await clock.advance(30_000)

    await fail(agent, 1)
    expect(isCircuitOpenError(await fail(agent, 1))).toBe(true)

    expect(client.requests).toHaveLength(5)
    expect(events.map(({ status }) => status)).toEqual(['opened', 'trying', 'opened', 'rejected'])
  })

  it('lets only so many calls at once try it out', async () => {
    const { agent, clock, world, client } = setUp({ halfOpen: 2 })
    await fail(agent, 4)
    await clock.advance(30_000)
    let answer = (): void => {}
    const answered = new Promise<void>((resolve) => (answer = resolve))
    world.answer = () => async () => {
      await answered
      return 'Back.'
    }

    const running = Array.from({ length: 10 }, () => rejection(runIn(mode, agent)))
    await clock.advance(1)
    answer()
    const errors = await Promise.all(running)

    expect(client.requests).toHaveLength(4 + 2)
    expect(errors.filter(isCircuitOpenError)).toHaveLength(8)
    expect(errors.filter((error) => error === undefined)).toHaveLength(2)
  })

  it('gives the place of a trial that was aborted, or ended on purpose, to the next call', async () => {
    const { agent, clock, world } = setUp()
    await fail(agent, 4)
    await clock.advance(30_000)
    const controller = new AbortController()
    world.answer = () => {
      controller.abort(new Error('enough'))
      return { updates: [], hang: true }
    }
    const aborted = rejection(runIn(mode, agent, { signal: controller.signal }))
    expect(await aborted).toMatchObject({ message: 'enough' })
    await clock.advance(1)

    const guardrail = chatMiddleware('guardrail', () => {
      const block = { guardrail: 'g', level: 'chat', stage: 'input', category: 'c', message: 'No.' }
      throw new GuardrailTripped(block as never)
    })
    expect(await runIn(mode, agent, { middleware: guardrail })).toMatchObject({ status: 'blocked' })
    await clock.advance(1)

    world.answer = () => 'Back.'
    expect((await runIn(mode, agent)).text).toBe('Back.')
  })

  it('takes what a provider refuses for a sign of life, and what it did not say for nothing', async () => {
    const refused = setUp()
    refused.world.answer = () => failure('invalid_request')
    await fail(refused.agent, 9)
    expect(refused.events).toEqual([])

    const { agent, clock, world, events } = setUp()
    await fail(agent, 4)
    await clock.advance(30_000)
    world.answer = () => new Error('a bug')
    await fail(agent, 1)
    await clock.advance(1)
    world.answer = () => failure('invalid_request')
    await fail(agent, 1)
    expect(events.map(({ status }) => status)).toEqual(['opened', 'trying', 'trying', 'closed'])
  })

  it('counts as failures what it is told to', async () => {
    const listed = setUp({ failOn: ['auth'] })
    await fail(listed.agent, 9)
    expect(listed.events).toEqual([])
    listed.world.answer = () => failure('auth')
    await fail(listed.agent, 9)
    expect(listed.events[0]).toMatchObject({ status: 'opened' })

    const any = setUp({ failOn: (error) => error instanceof TypeError })
    any.world.answer = () => new TypeError('bug')
    await fail(any.agent, 4)
    expect(any.events).toMatchObject([{ status: 'opened', failures: 4 }])
  })

  it('has a circuit for each provider and model, or for what it is told', async () => {
    const { agent, client, events } = setUp()
    await fail(agent, 4)
    const other = await rejection(runIn(mode, agent, { options: { model: 'other' } }))
    expect(isCircuitOpenError(other)).toBe(false)
    expect(client.requests).toHaveLength(5)
    expect(events).toHaveLength(1)

    const tenants = setUp({ circuitOf: ({ run }) => String(run.data) })
    for (let at = 0; at < 4; at++) await rejection(runIn(mode, tenants.agent, { data: 'a' }))
    expect(isCircuitOpenError(await rejection(runIn(mode, tenants.agent, { data: 'a' })))).toBe(
      true,
    )
    expect(isCircuitOpenError(await rejection(runIn(mode, tenants.agent, { data: 'b' })))).toBe(
      false,
    )
  })

  it('is shared by processes that share a store', async () => {
    const clock = testClock(1_000_000)
    const store = memoryStore({ clock })
    const [one, two] = [setUp({ store, clock }), setUp({ store, clock })]
    await fail(one.agent, 2)
    await fail(two.agent, 2)

    expect(isCircuitOpenError(await fail(one.agent, 1))).toBe(true)
    expect(isCircuitOpenError(await fail(two.agent, 1))).toBe(true)

    await clock.advance(30_000)
    one.world.answer = two.world.answer = () => 'Back.'
    await runIn(mode, one.agent)
    expect((await runIn(mode, two.agent)).text).toBe('Back.')
  })

  it('lets calls through when its store fails, and says so', async () => {
    const down = () => Promise.reject(new Error('no store'))
    const store: KeyValueStore = {
      get: down,
      set: down,
      delete: down,
      increment: down,
      compareAndSet: down,
    }
    const { agent, client, events, world } = setUp({ store })
    await fail(agent, 9)
    world.answer = () => 'Hi.'

    expect((await runIn(mode, agent)).text).toBe('Hi.')

    expect(client.requests).toHaveLength(10)
    expect(new Set(events.map(({ status }) => status))).toEqual(new Set(['store_failed']))
  })

  it('does not wait for a store that hangs when the run is aborted', async () => {
    const hang = () => new Promise<never>(() => {})
    const store: KeyValueStore = {
      get: hang,
      set: hang,
      delete: hang,
      increment: hang,
      compareAndSet: hang,
    }
    const { agent } = setUp({ store })
    const controller = new AbortController()
    const running = rejection(runIn(mode, agent, { signal: controller.signal }))
    await Promise.resolve()

    controller.abort(new Error('enough'))

    expect(await running).toMatchObject({ message: 'enough' })
  })

  it('waits for a store that hangs no longer than `storeTimeoutMs`', async () => {
    const hang = () => new Promise<never>(() => {})
    const methods = { get: hang, set: hang, delete: hang, increment: hang, compareAndSet: hang }
    const { agent, clock, world, events } = setUp({ store: methods, storeTimeoutMs: 100 })
    world.answer = () => 'fine'
    const running = runIn(mode, agent)

    await clock.advance(100)
    await clock.advance(100)

    expect((await running).text).toBe('fine')
    expect(events.map(({ status }) => status)).toEqual(['store_failed', 'store_failed'])
    expect(clock.sleeping).toBe(0)
  })

  it('rejects nothing in shadow, but says what it would have', async () => {
    const { agent, client, events } = setUp({ mode: 'shadow' })

    await fail(agent, 6)

    expect(client.requests).toHaveLength(6)
    expect(events.map(({ status, shadow }) => [status, shadow])).toEqual([
      ['opened', true],
      ['rejected', true],
      ['rejected', true],
    ])
  })

  it('sends a fallback on at once while it is open', async () => {
    const { middleware, client } = setUp()
    const other = scriptedClient(() => 'Hi.', { provider: 'two' })
    const agent = new Agent({ client, middleware: [fallback({ clients: [other] }), middleware] })

    const texts: string[] = []
    for (let at = 0; at < 20; at++) texts.push((await runIn(mode, agent)).text)

    expect(new Set(texts)).toEqual(new Set(['Hi.']))
    expect(client.requests).toHaveLength(4)
    expect(other.requests).toHaveLength(20)
  })

  it('opens once under a thousand failing calls at the same time', async () => {
    const { agent, events, client } = setUp({ minimum: 10 })

    await Promise.all(Array.from({ length: 1000 }, () => rejection(runIn(mode, agent))))
    expect(isCircuitOpenError(await fail(agent, 1))).toBe(true)

    expect(client.requests).toHaveLength(1000)
    expect(events.filter(({ status }) => status === 'opened')).toHaveLength(1)
  })
})

it.each<[string, object]>([
  ['`failureRate` must be above 0 up to 1, got 1.5', { failureRate: 1.5 }],
  ['`minimum` must be a whole number from 1 up, got 0', { minimum: 0 }],
  ['`halfOpen` must be a whole number from 1 up, got 0.5', { halfOpen: 0.5 }],
  ['`windowMs` must be a whole number from 1 up, got 0', { windowMs: 0 }],
  ['`openMs` must be a whole number from 1 up, got Infinity', { openMs: Infinity }],
  ['`failOn` must be a function or a list of', { failOn: ['everything'] }],
  ['`store` needs `get`', { store: {} }],
  [
    '`store` needs `increment`, which this store lacks',
    { store: { ...memoryStore(), increment: undefined } },
  ],
  ['`circuitOf` must be a function', { circuitOf: 'model' }],
])('circuitBreaker: %s', (words, options) => {
  expect(() => circuitBreaker(options as CircuitBreakerOptions)).toThrow(`circuitBreaker: ${words}`)
})

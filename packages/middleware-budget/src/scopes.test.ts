import type { KeyValueStore } from '@lamella/core'
import { memoryStore } from '@lamella/core'
import { testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { budgetedAgent, failure, looks } from './budgeted-agent.test-helper.ts'
import type { BudgetOptions } from './index.ts'
import { budget } from './index.ts'

const answers = Array.from({ length: 10 }, () => 'Hi.')
const two = (options: BudgetOptions) =>
  budgetedAgent(budget({ limits: { modelCalls: 2 }, thresholds: [], ...options }), answers)

describe('a budget', () => {
  it('of a session is shared by its runs', async () => {
    const { agent, run } = two({ scope: 'session' })
    const session = agent.createSession()
    const statuses = []
    for (let turn = 0; turn < 3; turn++) statuses.push((await run(false, { session })).status)

    expect(statuses).toEqual(['completed', 'completed', 'budget_exhausted'])
    expect((await run(false, { session: agent.createSession() })).status).toBe('completed')
    expect((await run(false)).status).toBe('completed')
  })

  it('of a tenant is shared by all agents with the object, and processes with the store', async () => {
    const store = memoryStore()
    const [first, second] = [two({ scope: 'tenant', store }), two({ scope: 'tenant', store })]

    await first.run(false, { tenant: 'acme' })
    await second.run(false, { tenant: 'acme' })

    expect((await first.run(false, { tenant: 'acme' })).status).toBe('budget_exhausted')
    expect((await second.run(false, { tenant: 'other' })).status).toBe('completed')
    expect(await failure(first.run(false))).toMatchObject({ code: 'state_scope' })
  })

  it('of a text is shared by runs for which a function gives it', async () => {
    const { run } = two({ scope: ({ data }) => String(data) })
    for (const data of ['a', 'b', 'a', 'b']) await run(false, { data })

    expect((await run(false, { data: 'a' })).status).toBe('budget_exhausted')
    expect((await run(false, { data: 'c' })).status).toBe('completed')
  })

  it.each<[BudgetOptions['window'], string, string, string]>([
    ['day', '2026-03-31T23:00:00Z', '2026-03-31T23:59:59Z', '2026-04-01T00:00:00Z'],
    ['month', '2026-03-01T00:00:00Z', '2026-03-31T23:59:59Z', '2026-04-01T00:00:00Z'],
    [60_000, '2026-03-01T00:00:10Z', '2026-03-01T00:00:59Z', '2026-03-01T00:01:00Z'],
  ])('begins anew with the next window: %s', async (window, start, end, next) => {
    const clock = testClock(Date.parse(start))
    const { run } = two({ scope: () => 'all', window, clock })
    await run(false)
    await run(false)

    await clock.advance(Date.parse(end) - clock.now())
    expect((await run(false)).status).toBe('budget_exhausted')
    await clock.advance(Date.parse(next) - clock.now())

    expect((await run(false)).status).toBe('completed')
  })

  it('that is used up ends a run before anything is called', async () => {
    const { run, client } = two({ limits: { modelCalls: 0 }, message: 'Come back tomorrow.' })

    const response = await run(false)

    expect(response).toMatchObject({ status: 'budget_exhausted', text: 'Come back tomorrow.' })
    expect(client.requests).toHaveLength(0)
  })

  it('counts what runs have used, not what they reserved', async () => {
    const store = memoryStore()
    const middleware = budget({
      limits: { totalTokens: 1000, toolCalls: 10 },
      estimate: () => ({ inputTokens: 300 }),
      scope: () => 'all',
      store,
    })
    const { run } = budgetedAgent(middleware, [...looks(2), 'Done.'])
    await run(false)

    const keyOf = (counter: string): string =>
      `budget:${JSON.stringify([null, null, 'budget', 'own', 'all', 0, counter])}`

    expect(await store.get(keyOf('totalTokens'))).toBe(45)
    expect(await store.get(keyOf('toolCalls'))).toBe(2)
  })
})

describe('a store that fails', () => {
  const broken: KeyValueStore = {
    ...memoryStore(),
    increment: async () => {
      throw new Error('redis://secret@host is down')
    },
  }

  it('fails the run before anything is called', async () => {
    const { run, client } = two({ scope: () => 'all', store: broken })

    expect(await failure(run(false))).toMatchObject({
      code: 'store_failed',
      message: 'budget: the store failed',
    })
    expect(client.requests).toHaveLength(0)
  })

  it('is passed over where that is wished', async () => {
    const { run, events } = two({ scope: () => 'all', store: broken, onStoreError: 'open' })

    expect((await run(false)).status).toBe('completed')
    expect(events).toContainEqual({ budget: 'budget', status: 'store_error' })
    expect(JSON.stringify(events)).not.toContain('secret')
  })

  it('by not answering fails the run in time', async () => {
    const clock = testClock()
    const store = { ...memoryStore(), increment: () => new Promise<number>(() => {}) }
    const { run } = two({ scope: () => 'all', store, storeTimeoutMs: 500, clock })

    const failed = failure(run(false))
    // Once for the question, once for what is to be counted at the end.
    await clock.advance(1000)

    expect(await failed).toMatchObject({ code: 'store_failed' })
    expect(clock.sleeping).toBe(0)
  })

  it('does not hide what ended a call', async () => {
    const store = memoryStore()
    let isDown = false
    const increment: KeyValueStore['increment'] = async (...given) => {
      if (isDown) throw new Error('down')
      return store.increment(...given)
    }
    const middleware = budget({
      limits: { modelCalls: 5 },
      scope: () => 'all',
      store: { ...store, increment },
    })
    const steps = [
      () => {
        isDown = true
        return new Error('the provider failed')
      },
    ]
    const { run } = budgetedAgent(middleware, steps)

    expect(await failure(run(false))).toMatchObject({ message: 'the provider failed' })
  })

  it('that does not answer is not waited for after an abort, and what it grants is given back', async () => {
    const store = memoryStore()
    const waiting: (() => void)[] = []
    let isSlow = false
    const increment: KeyValueStore['increment'] = async (...given) => {
      if (isSlow) await new Promise<void>((go) => waiting.push(go))
      return store.increment(...given)
    }
    const middleware = budget({
      limits: { modelCalls: 5 },
      scope: () => 'all',
      store: { ...store, increment },
    })
    const slow = {
      level: 'agent',
      name: 'slow',
      process: async (_: unknown, callNext: () => Promise<unknown>) => {
        isSlow = true
        await callNext()
      },
    } as const
    const { run, client } = budgetedAgent([middleware, slow], ['Hi.'])
    const abort = new AbortController()

    const failed = failure(run(false, { signal: abort.signal }))
    await testClock().advance(0)
    abort.abort(new Error('enough'))

    expect(await failed).toMatchObject({ message: 'enough' })
    expect(client.requests).toHaveLength(0)
    isSlow = false
    for (const go of waiting) go()
    await testClock().advance(0)
    const keyOf = (counter: string): string =>
      `budget:${JSON.stringify([null, null, 'budget', 'own', 'all', 0, counter])}`
    expect(await store.get(keyOf('modelCalls'))).toBe(0)
  })
})

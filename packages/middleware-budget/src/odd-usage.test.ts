import type { Usage } from '@lamella/core'
import { Agent, createSession, memoryStore } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { budget } from './index.ts'

const honest = { inputTokens: 400, outputTokens: 100, totalTokens: 500 }
const odd: Readonly<Record<string, Usage>> = {
  'negative counts': { inputTokens: -1e9, outputTokens: -1e9, totalTokens: -2e9 },
  'no numbers': { inputTokens: NaN, outputTokens: NaN, totalTokens: NaN },
  'infinite counts': { inputTokens: Infinity, outputTokens: 1, totalTokens: Infinity },
  'counts that no call has': { inputTokens: 1e308, outputTokens: 1e308, totalTokens: 1e308 },
  'a count that no call has': { inputTokens: 2 ** 53, outputTokens: 100, totalTokens: 1e300 },
  nothing: {},
  texts: { inputTokens: '9', outputTokens: '9' } as unknown as Usage,
  zeros: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  'an input of 0': { inputTokens: 0, outputTokens: 1, totalTokens: 1 },
  'a total of 0': { inputTokens: 400, outputTokens: 100, totalTokens: 0 },
}

describe('a provider that reports', () => {
  it.for(Object.entries(odd))('%s gives nothing back to a budget', async ([, usage]) => {
    const middleware = budget({
      limits: { totalTokens: 2000 },
      scope: 'tenant',
      store: memoryStore(),
    })
    let call = 0
    const client = scriptedClient(() => ({ messages: 'ok', usage: call++ === 0 ? usage : honest }))
    const agent = new Agent({ client, middleware })
    const statuses: string[] = []

    for (let run = 0; run < 8; run++) {
      // oxlint-disable-next-line no-await-in-loop
      statuses.push((await agent.run('Hello', { tenant: 'a' })).status)
    }

    expect(statuses.indexOf('budget_exhausted')).toBeGreaterThan(3)
    expect(statuses.indexOf('budget_exhausted')).toBeLessThan(6)
  })

  it.for(['nothing', 'no numbers', 'negative counts', 'zeros'])(
    '%s ends a run by an estimate',
    async (name) => {
      const client = scriptedClient(() => ({ messages: 'word '.repeat(200), usage: odd[name]! }))
      const middleware = budget({ limits: { totalTokens: 1000 }, scope: 'session' })
      const agent = new Agent({ client, middleware })
      const session = createSession()

      let completed = 0
      // oxlint-disable-next-line no-await-in-loop
      while ((await agent.run('Hello', { session })).status === 'completed') completed++

      expect(completed).toBeGreaterThan(1)
      expect(completed).toBeLessThan(8)
    },
  )
})

describe('amounts that no call has', () => {
  it.for([1e308, Number.MAX_VALUE, 2 ** 60])(
    'reserved (%d), keep the sum as it was',
    async (huge) => {
      const store = memoryStore()
      const shared = { scope: 'tenant', store } as const
      const limits = { inputTokens: 2000, totalTokens: 2000, costUsd: 1 }
      const prices = { small: { input: 1000, output: 1000 } }
      const agentWith = (inputTokens: number) =>
        new Agent({
          client: scriptedClient(() => ({ messages: 'ok', usage: honest }), { model: 'small' }),
          middleware: budget({ ...shared, limits, prices, estimate: () => ({ inputTokens }) }),
        })
      const statuses: string[] = []

      for (const estimate of [0, huge, 0, huge, huge, 0, 0]) {
        // oxlint-disable-next-line no-await-in-loop
        const { status } = await agentWith(estimate).run('Hello', { tenant: 'a' })
        if (estimate === 0) statuses.push(status)
      }

      expect(statuses).toEqual(['completed', 'completed', 'budget_exhausted', 'budget_exhausted'])
    },
  )

  it.for([-5, 1e308, Infinity, NaN])('cost %d have no price', async (cost) => {
    const client = scriptedClient(() => ({ messages: 'ok', usage: honest }), { model: 'small' })
    const middleware = budget({ limits: { costUsd: 1 }, prices: () => cost })

    const run = new Agent({ client, middleware }).run('Hello')

    await expect(run).rejects.toMatchObject({ code: 'price_unknown' })
    expect(client.requests).toEqual([])
  })
})

it('streams that are left cost what was reserved for them', async () => {
  const middleware = budget({ limits: { totalTokens: 5000 }, scope: 'session' })
  const client = scriptedClient(() => 'word '.repeat(400))
  const agent = new Agent({ client, middleware })
  const session = createSession()

  for (let run = 0; run < 10; run++) {
    try {
      // oxlint-disable-next-line no-await-in-loop
      for await (const _ of agent.run('Hello', { stream: true, session })) break
    } catch {
      // The budget is used up.
    }
  }

  expect(client.requests.length).toBeLessThan(7)
})

describe('calls at the same time', () => {
  it.for([undefined, 200])('go over a limit by one answer (maxOutputTokens: %s)', async (limit) => {
    const middleware = budget({ limits: { totalTokens: 300 }, scope: 'session' })
    const usage = { inputTokens: 10, outputTokens: 200, totalTokens: 210 }
    const client = scriptedClient(async () => {
      await Promise.resolve()
      return { messages: 'x', usage }
    })
    const agent = new Agent({ client, middleware, options: { maxOutputTokens: limit } })
    const session = createSession()

    const runs = Array.from({ length: 10 }, () => agent.run('Hello', { session }))
    const statuses = (await Promise.all(runs)).map(({ status }) => status)

    expect(statuses.filter((status) => status === 'completed').length).toBeLessThanOrEqual(2)
    expect(client.requests.length).toBeLessThanOrEqual(2)
  })

  it('fit beside each other where there is room', async () => {
    const middleware = budget({ limits: { totalTokens: 100_000 }, scope: 'session' })
    const client = scriptedClient(() => ({ messages: 'x', usage: honest }))
    const agent = new Agent({ client, middleware })
    const session = createSession()

    const runs = Array.from({ length: 20 }, () => agent.run('Hello', { session }))

    for (const { status } of await Promise.all(runs)) expect(status).toBe('completed')
  })
})

import type { ChatMiddleware } from '@lamella/core'
import { Agent, agentTool, chatMiddleware } from '@lamella/core'
import { callInternally } from '@lamella/core/authoring'
import { models } from '@lamella/models'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { budgetedAgent, failure, looks } from './budgeted-agent.test-helper.ts'
import type { BudgetEvent, BudgetOptions } from './index.ts'
import { budget } from './index.ts'

// With 10 tokens of input and 5 of output, a call of each costs 20 and 200 US cents.
const prices = {
  small: { input: 10_000, output: 20_000 },
  'scripted/large': { input: 100_000, output: 200_000 },
}
const spentBy = async (inner: unknown[], options: BudgetOptions = {}, steps = ['Done.']) => {
  const middleware = budget({ limits: { costUsd: 100 }, prices, ...options })
  const { run, events } = budgetedAgent([middleware, ...(inner as ChatMiddleware[])], steps)
  await run(false)
  const last = events.at(-1)
  return last?.status === 'settled' ? last.spent.costUsd : undefined
}

describe('money', () => {
  it.each([
    [{ small: { input: '1', output: 1 } }, 'prices.small.input'],
    [{ small: { input: 1 } }, 'prices.small.output'],
    [{ small: { input: 1, output: 1, cachedInput: -1 } }, 'prices.small.cachedInput'],
    [{ small: null }, 'prices.small.input'],
    [5, 'prices'],
  ])('is not counted by what is no price: %j', (wrong, place) => {
    const make = () => budget({ limits: { costUsd: 1 }, prices: wrong as never })

    expect(make).toThrow(`budget: \`${place}\``)
  })

  it('of which a function makes no number has no price', async () => {
    const middleware = budget({ limits: { costUsd: 1 }, prices: () => Number.NaN })
    const { run, client } = budgetedAgent(middleware, ['Done.'])

    expect(await failure(run(false))).toMatchObject({ code: 'price_unknown' })
    expect(client.requests).toHaveLength(0)
  })

  it.each([false, true])('is spent by the prices of the model, with stream: %s', async (stream) => {
    const middleware = budget({ limits: { costUsd: 0.5 }, prices, estimate: () => ({}) })
    const { run, client } = budgetedAgent(middleware, looks(5))

    const response = await run(stream)

    expect(response).toMatchObject({ status: 'budget_exhausted', reason: 'costUsd' })
    expect(client.requests).toHaveLength(3)
  })

  it('is reserved by the estimate', async () => {
    const middleware = budget({
      limits: { costUsd: 0.5 },
      prices,
      estimate: () => ({ inputTokens: 51 }),
    })
    const { run, client } = budgetedAgent(middleware, ['Hi.'])

    expect(await run(false)).toMatchObject({ status: 'budget_exhausted' })
    expect(client.requests).toHaveLength(0)
  })

  it('is counted for what a middleware asks another model', async () => {
    const judge = scriptedClient(() => 'Fine.', { model: 'large' })
    const judging = chatMiddleware('judge', async ({ run }, callNext) => {
      await callInternally(run, { middleware: 'judge', client: judge, input: 'Is it?' })
      await callNext()
    })

    expect(await spentBy([judging])).toBeCloseTo(2.2)
  })

  it('is counted once for what a middleware of a sub-agent asks', async () => {
    const judge = scriptedClient(() => 'Fine.', { model: 'large' })
    const judging = chatMiddleware('judge', async ({ run }, callNext) => {
      await callInternally(run, { middleware: 'judge', client: judge, input: 'Is it?' })
      await callNext()
    })
    const middleware = budget({ limits: { costUsd: 100 }, prices })
    const child = budgetedAgent([middleware, judging], ['Found.'], { name: 'sub' })
    const steps = [callFunction('sub', { task: 'x' }), 'Done.']
    const parent = budgetedAgent(middleware, steps, { tools: [agentTool(child.agent)] })
    await parent.run(false)

    const spent = parent.events.flatMap((event) =>
      event.status === 'settled' ? event.spent.costUsd : [],
    )
    expect(spent.at(-1)).toBeCloseTo(3 * 0.2 + 2)
  })

  it('is counted for attempts that failed on another model', async () => {
    const falling = chatMiddleware('fall', async (context, callNext) => {
      const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
      context.run.addUsage(usage)
      context.run.recordAttempt({ provider: 'scripted', model: 'large', status: 'failed', usage })
      await callNext()
    })

    expect(await spentBy([falling])).toBeCloseTo(2.2)
  })

  it('is not counted for what a cache gives', async () => {
    const cache = chatMiddleware('cache', (context) => {
      context.result = { messages: 'Known.', usage: { inputTokens: 0, outputTokens: 0 } }
    })

    expect(await spentBy([cache])).toBe(0)
  })

  it('is counted for tokens that nobody says a model of, at that of the last call', async () => {
    const other = chatMiddleware('other', async ({ run }, callNext) => {
      await callNext()
      run.addUsage({ inputTokens: 10, outputTokens: 5, totalTokens: 15 })
    })

    expect(await spentBy([other])).toBeCloseTo(0.4)
  })

  it('may be said by a function', async () => {
    const price = ({ outputTokens = 0 }: { outputTokens?: number | undefined }) => outputTokens

    expect(await spentBy([], { prices: price })).toBe(5)
  })
})

describe('a model without a price', () => {
  const middlewares = (options: BudgetOptions = {}) =>
    budget({ limits: { costUsd: 1 }, prices: { tiny: { input: 1, output: 1 } }, ...options })

  it('is not called', async () => {
    const { run, client } = budgetedAgent(middlewares(), ['Hi.'])

    expect(await failure(run(false))).toMatchObject({
      code: 'price_unknown',
      message: 'budget: there is no price for the model scripted/small',
    })
    expect(client.requests).toHaveLength(0)
  })

  it.each(runModes)(
    'of an answer has that of the requested model, with an event, %s',
    async (mode) => {
      const events: BudgetEvent[] = []
      const client = scriptedClient(
        () => ({
          messages: 'It is sunny.',
          model: 'vendor/tiny',
          usage: { inputTokens: 1e6, outputTokens: 0, totalTokens: 1e6 },
        }),
        { model: 'tiny' },
      )
      const middleware = middlewares({
        limits: { costUsd: 9 },
        onEvent: (event) => events.push(event),
      })
      const agent = new Agent({ client, middleware })

      const response = await runIn(mode, agent)

      expect(response).toMatchObject({ status: 'completed', text: 'It is sunny.' })
      expect(events).toContainEqual({
        budget: 'budget',
        status: 'price_assumed',
        model: 'scripted/vendor/tiny',
      })
      // An output of 0 tokens counts by an estimate.
      expect(events.at(-1)).toMatchObject({
        status: 'settled',
        spent: { costUsd: expect.closeTo(1, 4) },
      })
    },
  )

  it('that nobody named fails the next call and not the answer', async () => {
    const client = scriptedClient([callFunction('look'), 'Done.'])
    const { run, ran, events } = budgetedAgent(middlewares(), [], { client })

    const failed = await failure(run(false))

    expect(failed).toMatchObject({ code: 'price_unknown', outcome: { usage: { totalTokens: 15 } } })
    expect([client.requests.length, ran.length]).toEqual([1, 0])
    expect(events).toContainEqual({
      budget: 'budget',
      status: 'price_unknown',
      model: 'scripted/scripted',
    })
  })

  it('costs nothing where that is wished', async () => {
    const { run } = budgetedAgent(middlewares({ onUnknownPrice: 'ignore' }), ['Hi.'])

    expect(await run(false)).toMatchObject({ status: 'completed' })
  })
})

it('prompt caches have prices of their own, and a date in the name of a model does not matter', async () => {
  const table = {
    'large-5': { input: 10, output: 50, cachedInput: 1, cacheWrite: 12, cacheWrite1h: 20 },
  }
  const usage = {
    inputTokens: 1_000_000,
    outputTokens: 100_000,
    totalTokens: 1_100_000,
    cachedInputTokens: 500_000,
    cacheWriteTokens: 200_000,
    cacheWrite1hTokens: 50_000,
  }
  const client = scriptedClient(() => ({ messages: 'Hi.', usage }), { model: 'large-5-20260801' })
  const middleware = budget({ limits: { costUsd: 100 }, prices: table })
  const { run, events } = budgetedAgent(middleware, [], { client })

  await run(false)

  // 300,000 plain, 500,000 read, 150,000 and 50,000 written, 100,000 of output
  expect(events.at(-1)).toMatchObject({ spent: { costUsd: 3 + 0.5 + 1.8 + 1 + 5 } })
})

it('whatever calls are made of, money is the sum over their models', async () => {
  const call = fc.record({
    model: fc.constantFrom('small', 'large'),
    inputTokens: fc.integer({ min: 1, max: 100_000 }),
    outputTokens: fc.integer({ min: 1, max: 100_000 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 6 }), async (calls) => {
      const steps = calls.map(({ model, ...usage }, at) => {
        const isLast = at === calls.length - 1
        const messages = isLast ? 'Done.' : [callFunction('look', { at }, `c${at}`)]
        return { messages, model, usage }
      })
      const middleware = budget({ limits: { costUsd: 1e9 }, prices })
      const { run, events } = budgetedAgent(middleware, steps)
      await run(false)
      const expected = calls.reduce((sum, { model, inputTokens, outputTokens }) => {
        const { input, output } = model === 'small' ? prices.small : prices['scripted/large']
        return sum + (inputTokens * input + outputTokens * output) / 1e6
      }, 0)
      const last = events.at(-1)
      const spent = last?.status === 'settled' ? last.spent.costUsd : Number.NaN
      return Math.abs(spent - expected) < 1e-6 * Math.max(1, expected)
    }),
    { numRuns: 50 },
  )
})

describe('prices of a source', () => {
  it('count each call by the models of @lamella/models', async () => {
    const client = scriptedClient(['Done.'])
    const ours = models.extend({ 'scripted/small': 'openai/gpt-4o' })
    const seen: BudgetEvent[] = []
    const middleware = budget({
      limits: { costUsd: 1 },
      prices: ours,
      onEvent: (event) => void seen.push(event),
    })

    const { usage } = await new Agent({ client, middleware, options: { model: 'small' } }).run(
      'Go.',
    )

    const last = seen.at(-1)
    const spent = last?.status === 'settled' ? last.spent.costUsd : undefined
    expect(spent).toBeCloseTo(ours.cost(usage, { provider: 'openai', model: 'gpt-4o' })!, 12)
    expect(spent).toBeGreaterThan(0)
  })

  it('refuse a call of a model that the source does not know', async () => {
    const middleware = budget({ limits: { costUsd: 1 }, prices: models })
    const { run, client } = budgetedAgent(middleware, ['Done.'])

    expect(await failure(run(false))).toMatchObject({ code: 'price_unknown' })
    expect(client.requests).toHaveLength(0)
  })
})

import { ProviderError } from '@lamella/core'
import { callFunction, testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { budgetedAgent, failure, looks } from './budgeted-agent.test-helper.ts'
import { budget } from './index.ts'

const outline = ({ messages }: { messages: readonly { role: string }[] }) =>
  messages.map(({ role }) => role).join(' ')

describe.each([false, true])('with stream: %s', (stream) => {
  it('a run ends as `budget_exhausted` before the model call that is one too many', async () => {
    const { run, client, ran } = budgetedAgent(budget({ limits: { modelCalls: 2 } }), looks(5))

    const response = await run(stream)

    expect(response).toMatchObject({ status: 'budget_exhausted', reason: 'modelCalls' })
    expect(client.requests).toHaveLength(2)
    expect(ran).toHaveLength(2)
    expect(outline(response)).toBe('assistant tool assistant tool')
  })

  it('a run that needs no more than its limits completes', async () => {
    const limits = { modelCalls: 3, toolCalls: 2, totalTokens: 500, wallMs: 1000 }
    const middleware = budget({ limits, clock: testClock() })
    const { run } = budgetedAgent(middleware, [...looks(2), 'Done.'])

    expect(await run(stream)).toMatchObject({ status: 'completed', text: 'Done.' })
  })

  it('the tool call that is one too many is not made, and the run ends', async () => {
    const calls = [1, 2, 3].map((at) => callFunction('look', { at }, `c${at}`))
    const { run, ran, client } = budgetedAgent(budget({ limits: { toolCalls: 2 } }), [calls, 'No.'])

    const response = await run(stream)

    expect(response).toMatchObject({ status: 'budget_exhausted', reason: 'toolCalls' })
    expect(ran).toEqual([{ at: 1 }, { at: 2 }])
    expect(client.requests).toHaveLength(1)
    expect(JSON.stringify(response.messages.at(-1))).toContain('"code":"budget"')
  })

  it('the model may be told instead, and answers with what it has', async () => {
    const middleware = budget({ limits: { toolCalls: 1 }, onToolLimit: 'refuse' })
    const { run, ran } = budgetedAgent(middleware, [...looks(2), 'Done.'])

    const response = await run(stream)

    expect(response).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(ran).toHaveLength(1)
    expect(JSON.stringify(response.messages)).toContain('Answer with what you have.')
  })

  it('each tool may have a limit of its own', async () => {
    for (const toolCallsPerTool of [2, { look: 2, other: 1 }]) {
      const { run, ran } = budgetedAgent(budget({ limits: { toolCallsPerTool } }), looks(4))

      expect(await run(stream)).toMatchObject({ reason: 'toolCallsPerTool' })
      expect(ran).toHaveLength(2)
    }
  })

  it('tokens are counted as the provider tells them, and tools do not run without any left', async () => {
    const middleware = budget({
      limits: { totalTokens: 45 },
      estimate: () => ({ inputTokens: 10 }),
    })
    const { run, client, ran } = budgetedAgent(middleware, looks(5))

    const response = await run(stream)

    expect(response).toMatchObject({ status: 'budget_exhausted', reason: 'totalTokens' })
    expect(client.requests).toHaveLength(3)
    expect(ran).toHaveLength(2)
    expect(response.usage.totalTokens).toBe(45)
  })

  it('a model call that does not fit by its estimate is not made', async () => {
    const middleware = budget({
      limits: { inputTokens: 15 },
      estimate: () => ({ inputTokens: 16 }),
    })
    const { run, client } = budgetedAgent(middleware, ['Hi.'])

    expect(await run(stream)).toMatchObject({ status: 'budget_exhausted', reason: 'inputTokens' })
    expect(client.requests).toHaveLength(0)
  })

  it('what a failed call has used counts', async () => {
    const partial = { usage: { inputTokens: 40, totalTokens: 40 } }
    const broken = new ProviderError('cut', {
      kind: 'truncated_stream',
      provider: 'scripted',
      partial: { messages: [], text: '', functionCalls: [], metadata: {}, ...partial },
    })
    const middleware = budget({ limits: { totalTokens: 50 }, scope: () => 'all' })
    const { run } = budgetedAgent(middleware, [broken, 'Hi.', 'Hi.'])

    await failure(run(stream))
    await run(stream)

    expect(await run(stream)).toMatchObject({ status: 'budget_exhausted' })
  })

  it('a failure, and what was reserved for it, does not count', async () => {
    const middleware = budget({
      limits: { totalTokens: 50 },
      estimate: () => ({ inputTokens: 30 }),
      scope: () => 'all',
    })
    const { run } = budgetedAgent(middleware, [new Error('down'), new Error('down'), 'Hi.'])

    await failure(run(stream))
    await failure(run(stream))

    expect(await run(stream)).toMatchObject({ status: 'completed' })
  })

  it('the last message may be a sentence of yours', async () => {
    const message = ({ counter }: { counter: string }) => `No more ${counter}.`
    for (const limits of [{ modelCalls: 1 }, { toolCalls: 0 }, { modelCalls: 0 }]) {
      const { run } = budgetedAgent(budget({ limits, message }), looks(2))

      const response = await run(stream)

      expect(response.status).toBe('budget_exhausted')
      expect(response.text).toBe(`No more ${Object.keys(limits)[0]}.`)
    }
  })

  it('shadow mode tells, and lets everything pass', async () => {
    const limits = { modelCalls: 1, toolCalls: 1, totalTokens: 20 }
    const middleware = budget({ limits, thresholds: [], mode: 'shadow' })
    const { run, events } = budgetedAgent(middleware, [...looks(3), 'Done.'])

    expect(await run(stream)).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(events.map((event) => event.status)).toEqual(['shadow', 'shadow', 'shadow', 'settled'])
    expect(events.at(-1)).toMatchObject({ spent: { modelCalls: 4, toolCalls: 3, totalTokens: 60 } })
  })
})

describe('time', () => {
  it.each([false, true])('ends a model call that is under way, with stream: %s', async (stream) => {
    const clock = testClock()
    const middleware = budget({ limits: { wallMs: 5000 }, clock })
    const { run, client } = budgetedAgent(middleware, [
      ...looks(1),
      { updates: ['Half'], hang: true },
    ])

    const response = run(stream)
    await clock.advance(5000)

    expect(await response).toMatchObject({ status: 'budget_exhausted', reason: 'wallMs' })
    expect(outline(await response)).toBe('assistant tool')
    expect(client.openStreams).toBe(0)
    expect(clock.sleeping).toBe(0)
  })

  it('ends a tool that does not listen', async () => {
    const clock = testClock()
    const middleware = budget({ limits: { wallMs: 5000 }, clock })
    const { agent, look } = budgetedAgent(middleware, [callFunction('stuck', {})])
    const stuck = { ...look, name: 'stuck', execute: () => new Promise(() => {}) }

    const response = agent.run('Go', { tools: [stuck] })
    await clock.advance(5000)

    expect(await response).toMatchObject({ status: 'budget_exhausted', reason: 'wallMs' })
    expect(clock.sleeping).toBe(0)
  })

  it('stands still while a run is paused', async () => {
    const clock = testClock()
    const middleware = budget({ limits: { wallMs: 5000, modelCalls: 2 }, clock })
    const { agent, look } = budgetedAgent(middleware, [
      callFunction('gated', {}, 'c1'),
      callFunction('look', {}, 'c2'),
      'Done.',
    ])
    const tools = [{ ...look, name: 'gated', approval: 'always' as const }]

    const paused = await agent.run('Go', { tools })
    await clock.advance(60_000)
    const [request] = paused.pending
    const checkpoint = JSON.parse(JSON.stringify(paused.checkpoint))
    const response = await agent.resume(checkpoint, { [request!.id]: true }, { tools })

    expect(response).toMatchObject({ status: 'budget_exhausted', reason: 'modelCalls' })
  })
})

describe('warnings', () => {
  it('come once for each threshold, in events and in the metadata of calls', async () => {
    const seen: unknown[] = []
    const look = {
      level: 'chat',
      name: 'look',
      process: async ({ metadata }: never, callNext: () => Promise<unknown>) => {
        seen.push(metadata['budget'])
        await callNext()
      },
    } as const
    const middleware = budget({ limits: { modelCalls: 4 }, thresholds: [0.5, 0.75] })
    const { run, events } = budgetedAgent([middleware, look], [...looks(3), 'Done.'])

    await run(false)

    expect(events.slice(0, -1)).toEqual([
      { budget: 'budget', status: 'warning', counter: 'modelCalls', spent: 2, limit: 4 },
      { budget: 'budget', status: 'warning', counter: 'modelCalls', spent: 3, limit: 4 },
    ])
    expect(seen[1]).toEqual([{ counter: 'modelCalls', spent: 2, limit: 4, remaining: 2 }])
  })

  it('may reach the model, always in the same words', async () => {
    const middleware = budget({ limits: { modelCalls: 4 }, thresholds: [0.5], note: true })
    const { run, client } = budgetedAgent(middleware, [...looks(3), 'Done.'], {
      instructions: 'Work.',
    })

    await run(false)

    const instructions = client.requests.map((request) => request.instructions)
    expect(instructions.slice(0, 2)).toEqual(['Work.', 'Work.'])
    expect(instructions[2]).toMatch(/^Work\.\n\nMost of the budget/)
    expect(instructions[3]).toBe(instructions[2])
  })

  it('may make the next calls cheaper', async () => {
    const degrade = { at: 0.5, options: { model: 'tiny', toolChoice: 'none' as const } }
    const middleware = budget({ limits: { modelCalls: 4 }, thresholds: [], degrade })
    const { run, client, events } = budgetedAgent(middleware, [...looks(2), 'Done.'])

    const response = await run(false)

    expect(client.requests.map(({ options }) => options.model)).toEqual([
      undefined,
      undefined,
      'tiny',
    ])
    expect(response).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(events.map(({ status }) => status)).toEqual(['degraded', 'settled'])
  })
})

it('1,000 runs at once share what they share, to the last call', async () => {
  const middleware = budget({ limits: { modelCalls: 1500 }, scope: () => 'all', thresholds: [] })
  const agents = Array.from({ length: 1000 }, () =>
    budgetedAgent(middleware, [...looks(1), 'Done.']),
  )

  const responses = await Promise.all(agents.map(({ run }) => run(false)))

  const calls = agents.reduce((sum, { client }) => sum + client.requests.length, 0)
  const completed = responses.filter(({ status }) => status === 'completed')
  expect(calls).toBe(1500)
  expect(completed).toHaveLength(500)
})

it('1,000 runs at once do not share what is each run’s own', async () => {
  const middleware = budget({ limits: { modelCalls: 2, toolCalls: 1 } })
  const agents = Array.from({ length: 1000 }, () =>
    budgetedAgent(middleware, [...looks(1), 'Done.']),
  )

  const responses = await Promise.all(agents.map(({ run }) => run(false)))

  expect(responses.every(({ status }) => status === 'completed')).toBe(true)
})

it('refuses an unknown limit', () => {
  expect(() => budget({ limits: { calls: 1 } } as never)).toThrow(
    new TypeError('budget: unknown option `limits.calls`; did you mean `limits.toolCalls`?'),
  )
})

it.each<[string, object, string]>([
  ['a negative limit', { limits: { modelCalls: -1 } }, 'limits.modelCalls'],
  ['no limits', { limits: 5 }, 'limits'],
  ['a share alone', { thresholds: 0.8 }, 'thresholds'],
  ['what is no store', { store: {} }, 'store'],
  ['half a call', { limits: { toolCalls: 1.5 } }, 'limits.toolCalls'],
  ['money without prices', { limits: { costUsd: 1 } }, 'prices'],
  ['no repetition at all', { limits: { repeatedToolCalls: 0 } }, 'limits.repeatedToolCalls'],
  ['an unknown scope', { scope: 'user' }, 'scope'],
  ['a window of a run', { window: 'day' }, 'window'],
  ['an unknown window', { window: 'week', scope: 'session' }, 'window'],
  ['a threshold above 1', { thresholds: [80] }, 'thresholds'],
  ['a share above 1', { degrade: { at: 2 } }, 'degrade.at'],
  ['an unknown choice', { onToolLimit: 'skip' }, 'onToolLimit'],
])('refuses %s', (_, options, name) => {
  expect(() => budget(options as never)).toThrow(`budget: \`${name}\``)
})

import { Agent, outcomeOf, tool } from '@lamella/core'
import type { AgentResponse } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { callFunction, runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import type { ScriptedStep } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { isTimeoutError, retry, timeout, TimeoutError } from './index.ts'
import type { TimeoutEvent, TimeoutOptions } from './index.ts'
import { readUpdates, textsOf } from './failing-run.test-helper.ts'

function setUp(
  steps: Parameters<typeof scriptedClient>[0],
  options: TimeoutOptions & { readonly totalMs?: number } = {},
) {
  const clock = testClock()
  const client = scriptedClient(steps, { clock })
  const events: TimeoutEvent[] = []
  const middleware = timeout({ clock, onEvent: (event) => events.push(event), ...options })
  return { clock, client, events, middleware, agent: new Agent({ client, middleware: middleware }) }
}

const hang = { updates: [], hang: true }

const settled = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (error: unknown) => error,
  )

describe.each(runModes)('timeout, %s', (mode) => {
  it('ends a call that takes too long as a whole, and aborts the request', async () => {
    const { agent, clock, client, events } = setUp([hang], {
      attemptMs: 1000,
      firstUpdateMs: false,
      idleMs: false,
    })
    const running = settled(runIn(mode, agent))

    await clock.advance(999)
    expect(client.requests[0]?.signal.aborted).toBe(false)
    await clock.advance(1)

    const error = await running
    expect(error).toBeInstanceOf(TimeoutError)
    expect(error).toMatchObject({
      kind: 'timeout',
      phase: 'attempt',
      timeoutMs: 1000,
      retry: { retryable: true, replay: 'safe' },
      message: 'timeout: no complete answer within 1000 ms',
    })
    expect(client.requests[0]?.signal.reason).toBe(error)
    expect(client.openStreams).toBe(0)
    expect(clock.sleeping).toBe(0)
    expect(outcomeOf(error)?.status).toBe('failed')
    expect(events).toEqual([{ phase: 'attempt', timeoutMs: 1000 }])
  })

  it('gives each try of a retry middleware its own time', async () => {
    const { clock, client, middleware } = setUp([hang, hang, 'Hi.'], { attemptMs: 1000 })
    const agent = new Agent({ client, middleware: [retry({ clock, jitter: 'none' }), middleware] })
    const running = runIn(mode, agent)

    await clock.advance(1000 + 500 + 1000 + 1000)

    const { text, attempts } = await running
    expect(text).toBe('Hi.')
    expect(attempts.map(({ reason }) => reason)).toEqual(['timeout', 'timeout', undefined])
  })

  it('ends a run that takes too long: model calls, tools and waits, and nothing follows', async () => {
    const { clock, client, events, middleware } = setUp(() => hang, {
      attemptMs: 4000,
      totalMs: 10_000,
    })
    const agent = new Agent({
      client,
      middleware: [retry({ clock, jitter: 'none', maxRetries: 9 }), middleware],
    })
    const running = settled(runIn(mode, agent))

    await clock.advance(9999)
    const before = client.requests.length
    await clock.advance(1)

    const error = await running
    expect(error).toMatchObject({ phase: 'total', retry: { retryable: false } })
    expect(outcomeOf(error)?.status).toBe('failed')
    expect(client.requests).toHaveLength(before)
    expect(events.at(-1)).toEqual({ phase: 'total', timeoutMs: 10_000 })
    await clock.advance(100_000)
    expect(client.requests).toHaveLength(before)
    expect(clock.sleeping).toBe(0)
  })

  it('aborts a tool that is running when the time of the run is up', async () => {
    const { clock, client, middleware } = setUp([callFunction('slow')], { totalMs: 1000 })
    const reasons: unknown[] = []
    const slow = tool({
      name: 'slow',
      description: 'Waits.',
      execute: async (_, { signal }) => {
        await clock.sleep(60_000, signal).catch((error: unknown) => reasons.push(error))
        return 'late'
      },
    })
    const running = settled(
      runIn(mode, new Agent({ client, tools: [slow], middleware: middleware })),
    )

    await clock.advance(1000)

    expect(await running).toMatchObject({ phase: 'total' })
    expect(reasons).toEqual([await running])
    expect(client.requests).toHaveLength(1)
  })

  it('fails a tool call that takes too long, aborts it, and the model continues', async () => {
    const { clock, client, events, middleware } = setUp(
      [[callFunction('slow'), callFunction('patient'), callFunction('free')], 'Done.'],
      { toolMs: 1000, tools: { patient: 3000, free: false } },
    )
    const ended: string[] = []
    const tools = ['slow', 'patient', 'free'].map((name) =>
      tool({
        name,
        description: 'Waits.',
        execute: async (_, { signal }) => {
          await clock
            .sleep(name === 'free' ? 5000 : 4000, signal)
            .finally(() => ended.push(`${name} ${clock.now()}`))
          return 'done'
        },
      }),
    )
    const running = runIn(mode, new Agent({ client, tools, middleware: middleware }))

    await clock.advance(5000)

    const response = await running
    expect(response.text).toBe('Done.')
    expect(ended).toEqual(['slow 1000', 'patient 3000', 'free 5000'])
    expect(resultsOf(response)).toEqual(['timeout', 'timeout', undefined])
    expect(events).toEqual([
      { phase: 'tool', timeoutMs: 1000, tool: 'slow' },
      { phase: 'tool', timeoutMs: 3000, tool: 'patient' },
    ])
  })

  it('ends the call of a tool that ignores its signal', async () => {
    const { clock, client, middleware } = setUp([callFunction('deaf'), 'Done.'], {
      tools: { deaf: 1000 },
    })
    const deaf = tool({ name: 'deaf', description: 'Hangs.', execute: () => new Promise(() => {}) })
    const running = runIn(mode, new Agent({ client, tools: [deaf], middleware: middleware }))

    await clock.advance(1000)

    expect(resultsOf(await running)).toEqual(['timeout'])
  })

  it('repeats an idempotent tool that took too long', async () => {
    const {
      clock,
      client,
      middleware: limit,
    } = setUp([callFunction('slow'), 'Done.'], { toolMs: 1000 })
    let calls = 0
    const slow = tool({
      name: 'slow',
      description: 'Waits.',
      idempotent: true,
      execute: async (_, { signal }) => clock.sleep(calls++ === 0 ? 5000 : 10, signal),
    })
    const middleware = [retry({ clock }), limit]
    const running = runIn(mode, new Agent({ client, tools: [slow], middleware }))

    await clock.advance(5000)

    expect(resultsOf(await running)).toEqual([undefined])
    expect(calls).toBe(2)
  })

  it('only tells in shadow', async () => {
    const slowly: ScriptedStep = { updates: ['Hi.', { finishReason: 'stop' }], delayMs: 5000 }
    const { agent, clock, events } = setUp([slowly], { mode: 'shadow', attemptMs: 1000 })
    const running = runIn(mode, agent)

    await clock.advance(20_000)

    expect((await running).text).toBe('Hi.')
    expect(events).toEqual([{ phase: 'attempt', timeoutMs: 1000, shadow: true }])
    expect(clock.sleeping).toBe(0)
  })

  it('keeps out of calls that `when` excludes, and of all when it is off', async () => {
    for (const options of [{ when: () => false }, { mode: 'off' }] as const) {
      const { agent, clock, client } = setUp([hang], { ...options, attemptMs: 1000 })
      const controller = new AbortController()
      const running = settled(runIn(mode, agent, { signal: controller.signal }))

      await clock.advance(5000)
      expect(client.requests[0]?.signal.aborted).toBe(false)

      controller.abort(new Error('enough'))
      expect(await running).toMatchObject({ message: 'enough' })
    }
  })

  it('rejects with the reason of the run where that is aborted first', async () => {
    const { agent, clock } = setUp([hang], { attemptMs: 1000, totalMs: 5000 })
    const controller = new AbortController()
    const running = settled(runIn(mode, agent, { signal: controller.signal }))
    await clock.advance(1)

    controller.abort(new Error('enough'))

    expect(await running).toMatchObject({ message: 'enough' })
    expect(clock.sleeping).toBe(0)
  })

  it('keeps a thousand runs at the same time apart', async () => {
    const clock = testClock()
    const client = scriptedClient(({ index }) => (index % 2 === 0 ? 'Hi.' : hang), { clock })
    const agent = new Agent({ client, middleware: timeout({ clock, attemptMs: 1000 }) })

    const runs = Promise.all(Array.from({ length: 1000 }, () => settled(runIn(mode, agent))))
    await clock.advance(1000)

    const outcomes = await runs
    expect(outcomes.filter(isTimeoutError)).toHaveLength(500)
    expect(new Set(outcomes).size).toBe(1000)
    expect(clock.sleeping).toBe(0)
  })
})

describe('timeout of a stream', () => {
  const stalled: ScriptedStep = { updates: ['One ', 'two '], hang: true }

  it('ends one that does not begin', async () => {
    const { agent, clock } = setUp([hang])
    const running = readUpdates(agent)

    await clock.advance(30_000)

    expect((await running).error).toMatchObject({ phase: 'first-update', timeoutMs: 30_000 })
  })

  it('ends one that stalls, and the reader keeps what came', async () => {
    const { agent, clock } = setUp([stalled], { idleMs: 2000 })
    const running = readUpdates(agent)
    await clock.advance(1999)
    expect(clock.sleeping).toBe(1)
    await clock.advance(1)

    const { updates, error } = await running
    expect(error).toMatchObject({ phase: 'idle', timeoutMs: 2000 })
    expect(textsOf(updates)).toEqual(['One ', 'two '])
  })

  it('lets one continue for as long as updates arrive', async () => {
    const words = Array.from({ length: 12 }, (_, index) => `${index} `)
    const { agent, clock } = setUp(
      [{ updates: [...words, { finishReason: 'stop' }], delayMs: 900 }],
      { firstUpdateMs: 1000, idleMs: 1000 },
    )
    const running = readUpdates(agent)

    await clock.advance(15_000)

    expect((await running).response?.text).toBe(words.join(''))
  })

  it('does not take a slow reader for a slow provider', async () => {
    const { agent, clock } = setUp([{ updates: ['One ', 'two.', { finishReason: 'stop' }] }], {
      idleMs: 1000,
      firstUpdateMs: 1000,
    })
    const read = async () => {
      let text = ''
      for await (const piece of agent.run('Hello', { stream: true }).text()) {
        text += piece
        await clock.sleep(5000)
      }
      return text
    }
    const running = read()

    await clock.advance(20_000)

    expect(await running).toBe('One two.')
  })

  it('has no time for a plain answer to begin: that comes in one piece', async () => {
    const { agent, clock } = setUp([
      { updates: ['Hi.', { finishReason: 'stop' }], delayMs: 40_000 },
    ])
    const running = agent.run('Hello')

    await clock.advance(100_000)

    expect((await running).text).toBe('Hi.')
  })

  it('is worth a retry when nothing was released, and none when something was', async () => {
    const first = setUp([hang, 'Hi.'])
    const agentOf = ({ client, clock, middleware }: typeof first) =>
      new Agent({ client, middleware: [retry({ clock, jitter: 'none' }), middleware] })
    const begun = readUpdates(agentOf(first))
    await first.clock.advance(40_000)
    expect((await begun).response?.text).toBe('Hi.')

    const second = setUp([stalled, 'Hi.'])
    const cut = readUpdates(agentOf(second))
    await second.clock.advance(80_000)
    expect((await cut).error).toMatchObject({ phase: 'idle' })
  })
})

it('goes by the clock of the run, as a limit of other work', async () => {
  const clock = testClock()
  const limits: unknown[] = []
  const watched: Clock = {
    now: () => clock.now(),
    sleep: (ms, signal, isLimit) => {
      limits.push(isLimit)
      return clock.sleep(ms, signal)
    },
  }
  const middleware = timeout({ attemptMs: 1000, totalMs: 5000 })
  const agent = new Agent({ client: scriptedClient([hang]), middleware, clock: watched })
  const running = settled(agent.run('Hello'))

  await clock.advance(1000)

  expect(await running).toMatchObject({ phase: 'attempt' })
  expect(new Set(limits)).toEqual(new Set([true]))
})

it('ends a call under a clock that stands still while it waits', async () => {
  const clock = testClock()
  const still: Clock = { now: () => 0, sleep: (...wait) => clock.sleep(...wait) }
  const client = scriptedClient([{ updates: ['One '], hang: true }])
  const middleware = timeout({ idleMs: 1000 })
  const running = readUpdates(new Agent({ client, middleware, clock: still }))

  await clock.advance(1200)

  expect((await running).error).toMatchObject({ phase: 'idle' })
})

it.each<[string, object]>([
  ['`firstUpdateMs` must be more than 0 milliseconds, got 0', { firstUpdateMs: 0 }],
  ['`idleMs` must be more than 0 milliseconds, got -1', { idleMs: -1 }],
  ['`attemptMs` must be more than 0 milliseconds, got NaN', { attemptMs: Number.NaN }],
  ['`totalMs` must be more than 0', { totalMs: true }],
  ['`toolMs` must be more than 0', { toolMs: '5' }],
  ['`tools.search` must be more than 0', { tools: { search: Number.NaN } }],
  ['`mode` must be one of', { mode: 'on' }],
])('timeout: %s', (words, options) => {
  expect(() => timeout(options as TimeoutOptions)).toThrow(`timeout: ${words}`)
})

function resultsOf({ messages }: AgentResponse): readonly (string | undefined)[] {
  return messages
    .flatMap(({ contents }) => contents)
    .flatMap((content) => (content.type === 'function-result' ? [content.error?.code] : []))
}

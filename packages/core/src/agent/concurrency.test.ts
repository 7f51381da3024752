import { callFunction, scriptedClient, testClock } from '@lamella/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FunctionInvocationConfiguration, Middleware, Tool } from '../index.ts'
import { Agent, foldUpdates, functionMiddleware, outcomeOf, tool } from '../index.ts'
import { failureOf, modes, outline, play, resultsOf } from '../loop/loop-invariant.test-helper.ts'

describe.each(modes)('tools that run side by side, $name', ({ stream }) => {
  function make(
    names: readonly string[],
    tools: readonly Tool[],
    functionInvocation: FunctionInvocationConfiguration = {},
    middleware: Middleware[] = [],
  ) {
    const calls = names.map((name, index) => callFunction(name, {}, `c${index + 1}`))
    const client = scriptedClient([calls, 'Done.'])
    return new Agent({ client, tools, functionInvocation, middleware })
  }

  /** A tool that takes its time by the test's clock, and a log of who began and ended. */
  function slow(ms: Readonly<Record<string, number>>, options: { exclusive?: string } = {}) {
    const clock = testClock()
    const log: string[] = []
    let running = 0
    let most = 0
    const tools = Object.entries(ms).map(([name, duration]) =>
      tool({
        name,
        description: '',
        exclusive: options.exclusive === name,
        execute: async (_, { callId }) => {
          most = Math.max(most, ++running)
          log.push(`${callId}>`)
          await clock.sleep(duration)
          log.push(`<${callId}`)
          running--
          return callId
        },
      }),
    )
    return { clock, log, tools, most: () => most }
  }

  it('run all at once by default; results keep call order whoever ends first', async () => {
    const { clock, log, tools } = slow({ long: 30, short: 10 })
    const agent = make(['long', 'short'], tools)

    const playing = play(agent, 'Go', { stream })
    await clock.advance(30)
    const { response } = await playing

    expect(log).toEqual(['c1>', 'c2>', '<c2', '<c1'])
    expect(outline(response.messages)[1]).toBe('tool: c1 = c1, c2 = c2')
  })

  it('are never more than `maxConcurrency`', async () => {
    const { clock, log, tools, most } = slow({ a: 10, b: 10, c: 10, d: 10 })
    const agent = make(['a', 'b', 'c', 'd'], tools, { maxConcurrency: 2 })

    const playing = play(agent, 'Go', { stream })
    await clock.advance(100)
    await playing

    expect(most()).toBe(2)
    expect(log.filter((entry) => entry.endsWith('>'))).toEqual(['c1>', 'c2>', 'c3>', 'c4>'])
  })

  it('leave an exclusive tool alone', async () => {
    const { clock, log, tools } = slow({ a: 10, alone: 10, b: 10 }, { exclusive: 'alone' })
    const agent = make(['a', 'alone', 'b', 'b'], tools)

    const playing = play(agent, 'Go', { stream })
    await clock.advance(100)
    const { response } = await playing

    expect(log).toEqual(['c1>', '<c1', 'c2>', '<c2', 'c3>', 'c4>', '<c3', '<c4'])
    expect(resultsOf(response.messages)).toHaveLength(4)
  })

  it('are aborted when a middleware breaks the run, and it waits for them', async () => {
    const log: string[] = []
    const waits = tool({
      name: 'waits',
      description: '',
      execute: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            log.push('aborted')
            reject(signal.reason as Error)
          })
        }),
    })
    const breaks = tool({ name: 'breaks', description: '', execute: () => 'ok' })
    const guardrail = functionMiddleware('guardrail', async ({ function: { name } }, callNext) => {
      try {
        await callNext()
        if (name === 'breaks') throw new Error('guardrail is broken')
      } finally {
        log.push(`${name} left`)
      }
    })
    const agent = make(['waits', 'breaks'], [waits, breaks], {}, [guardrail])

    const error = await failureOf(play(agent, 'Go', { stream }))

    expect(error.message).toBe('guardrail is broken')
    expect(log).toEqual(['breaks left', 'aborted', 'waits left'])
  })

  it('that ignore the abort do not hold it up', async () => {
    const deaf = tool({ name: 'deaf', description: '', execute: () => new Promise(() => {}) })
    const breaks = tool({ name: 'breaks', description: '', execute: () => 'ok' })
    const guardrail = functionMiddleware('guardrail', async ({ function: { name } }, callNext) => {
      await callNext()
      if (name === 'breaks') throw new Error('guardrail is broken')
    })
    const agent = make(['deaf', 'breaks'], [deaf, breaks], {}, [guardrail])

    const error = await failureOf(play(agent, 'Go', { stream }))

    expect(error.message).toBe('guardrail is broken')
  })

  it('that have not begun when a middleware breaks the run never begin', async () => {
    const began: string[] = []
    const work = tool({
      name: 'work',
      description: '',
      execute: (_, { callId }) => void began.push(callId),
    })
    const guardrail = functionMiddleware('guardrail', async ({ callId }, callNext) => {
      await callNext()
      if (callId === 'c1') throw new Error('guardrail is broken')
    })
    const agent = make(['work', 'work', 'work'], [work], { maxConcurrency: 1 }, [guardrail])

    await failureOf(play(agent, 'Go', { stream }))

    expect(began).toEqual(['c1'])
  })

  it.each([
    ['one tool that ignores it', 1],
    ['several', 2],
  ])('an abort by the caller reaches %s', async (_, count) => {
    let allBegan = (): void => {}
    const began = new Promise<void>((resolve) => (allBegan = resolve))
    const signals: AbortSignal[] = []
    const deaf = tool({
      name: 'deaf',
      description: '',
      execute: (_args, { signal }) => {
        signals.push(signal)
        if (signals.length === count) allBegan()
        return new Promise(() => {})
      },
    })
    const agent = make(Array<string>(count).fill('deaf'), [deaf])
    const controller = new AbortController()
    const reason = new Error('the user left')

    const failing = failureOf(play(agent, 'Go', { signal: controller.signal, stream }))
    await began
    controller.abort(reason)

    expect(await failing).toBe(reason)
    expect(signals.every(({ aborted }) => aborted)).toBe(true)
    expect(outcomeOf(reason)?.status).toBe('aborted')
  })

  it('an abort before the run begins starts nothing', async () => {
    const client = scriptedClient(['Never.'])
    const agent = new Agent({ client })
    const signal = AbortSignal.abort(new Error('too late'))

    const error = await failureOf(play(agent, 'Go', { signal, stream }))

    expect(error.message).toBe('too late')
    expect(client.requests).toEqual([])
  })

  describe('a tool with a time limit', () => {
    beforeEach(() => void vi.useFakeTimers())
    afterEach(() => void vi.useRealTimers())

    it('that takes too long is aborted, and the model reads that', async () => {
      let aborted: unknown
      const hangs = tool({
        name: 'hangs',
        description: '',
        timeoutMs: 50,
        execute: (_, { signal }) => {
          signal.addEventListener('abort', () => (aborted = signal.aborted))
          return new Promise(() => {})
        },
      })
      const agent = make(['hangs'], [hangs])

      const playing = play(agent, 'Go', { stream })
      await vi.advanceTimersByTimeAsync(50)
      const { response } = await playing

      expect(aborted).toBe(true)
      expect(resultsOf(response.messages)[0]!.error).toEqual({
        code: 'timeout',
        message: expect.stringContaining('50 ms'),
      })
      expect(response.text).toBe('Done.')
    })

    it('that is done in time leaves no timer behind', async () => {
      const quick = tool({
        name: 'quick',
        description: '',
        timeoutMs: 50,
        execute: async () => 'ok',
      })

      const { response } = await play(make(['quick'], [quick]), 'Go', { stream })

      expect(outline(response.messages)[1]).toBe('tool: c1 = ok')
      expect(vi.getTimerCount()).toBe(0)
    })

    it('that is over leaves its siblings alone', async () => {
      const hangs = tool({
        name: 'hangs',
        description: '',
        timeoutMs: 50,
        execute: () => new Promise(() => {}),
      })
      const slowly = tool({
        name: 'slowly',
        description: '',
        execute: () => new Promise((resolve) => setTimeout(resolve, 80, 'ok')),
      })
      const agent = make(['hangs', 'slowly'], [hangs, slowly])

      const playing = play(agent, 'Go', { stream })
      await vi.advanceTimersByTimeAsync(80)
      const { response } = await playing

      expect(outline(response.messages)[1]).toBe('tool: c1 = timeout, c2 = ok')
    })

    it('that aborts gives the signal of the run back to the middlewares', async () => {
      const seen: boolean[] = []
      const middleware = functionMiddleware('middleware', async (context, callNext) => {
        await callNext().catch(() => (context.result = 'too slow'))
        seen.push(context.signal.aborted)
      })
      const hangs = tool({
        name: 'hangs',
        description: '',
        timeoutMs: 50,
        execute: () => new Promise(() => {}),
      })
      const agent = make(['hangs'], [hangs], {}, [middleware])

      const playing = play(agent, 'Go', { stream })
      await vi.advanceTimersByTimeAsync(50)
      const { response } = await playing

      expect([seen, outline(response.messages)[1]]).toEqual([[false], 'tool: c1 = too slow'])
    })
  })
})

it('pulls of a run that do not wait for each other are answered in their order', async () => {
  const agent = new Agent({ client: scriptedClient(['Some words.'], { chunk: 4 }) })
  const iterator = agent.run('Hello', { stream: true })[Symbol.asyncIterator]()

  const steps = await Promise.all(Array.from({ length: 9 }, () => iterator.next()))

  const read = steps.flatMap(({ done, value }) => (done === true ? [] : [value]))
  expect(foldUpdates(read).text).toBe('Some words.')
  expect(steps.at(-1)?.done).toBe(true)
})

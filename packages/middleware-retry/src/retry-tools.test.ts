import { Agent, functionMiddleware, tool, ToolError } from '@lamella/core'
import type { AgentResponse, Schema, ToolOptions } from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { retry } from './index.ts'
import type { RetryEvent, RetryOptions } from './index.ts'
import { failure, withTime } from './failing-run.test-helper.ts'

function setUp(
  execute: ToolOptions<Schema<Record<string, unknown>>>['execute'],
  options: RetryOptions = {},
  of: Partial<ToolOptions<Schema<Record<string, unknown>>>> = { idempotent: true },
) {
  const clock = testClock()
  const events: RetryEvent[] = []
  const work = tool({ name: 'work', description: 'Works.', execute, ...of })
  const client = scriptedClient([callFunction('work'), 'Done.'])
  const middleware = retry({
    clock,
    random: () => 0.5,
    onEvent: (event) => events.push(event),
    ...options,
  })
  return {
    clock,
    events,
    middleware,
    agent: new Agent({ client, tools: [work], middleware: middleware }),
  }
}

/** Fails as often as there are errors, and counts. */
function failing(...errors: readonly unknown[]) {
  let calls = 0
  const execute = (): string => {
    const error = errors[calls++]
    if (error !== undefined) throw error
    return `after ${calls}`
  }
  return { execute, count: () => calls }
}

const resultOf = (response: AgentResponse) =>
  response.messages
    .flatMap(({ contents }) => contents)
    .find((content) => content.type === 'function-result')

describe.each(runModes)('retry of tool calls, %s', (mode) => {
  it.each([{ idempotent: true }, { readOnly: true }])(
    'repeats those of a tool with %j',
    async (of) => {
      const { execute, count } = failing(new Error('net'), new TypeError('fetch failed'))
      const { agent, clock, events } = setUp(execute, {}, of)

      const response = await withTime(clock, runIn(mode, agent))

      expect(count()).toBe(3)
      expect(resultOf(response)?.contents).toEqual([{ type: 'text', text: 'after 3' }])
      expect(response.attempts).toEqual([])
      expect(events).toEqual([
        {
          status: 'retrying',
          level: 'function',
          attempt: 1,
          tool: 'work',
          reason: 'error',
          delayMs: 250,
        },
        {
          status: 'retrying',
          level: 'function',
          attempt: 2,
          tool: 'work',
          reason: 'error',
          delayMs: 500,
        },
        { status: 'recovered', level: 'function', attempt: 3, tool: 'work' },
      ])
    },
  )

  it('leaves tools alone that may not be called twice', async () => {
    const { execute, count } = failing(new Error('net'))
    const { agent, events } = setUp(execute, {}, {})

    const response = await runIn(mode, agent)

    expect(count()).toBe(1)
    expect(resultOf(response)?.error?.code).toBe('tool_failed')
    expect(events).toEqual([])
  })

  it('repeats such a tool where each call has a key, the same in all tries', async () => {
    const keys: unknown[] = []
    const { agent, clock } = setUp(
      (_, { metadata }) => {
        if (keys.push(metadata['idempotencyKey']) < 3) throw new Error('net')
        return 'done'
      },
      { tools: { idempotencyKey: ({ run, callId }) => `${run.agentName ?? 'agent'}/${callId}` } },
      {},
    )

    await withTime(clock, runIn(mode, agent))

    expect(keys).toEqual(['agent/call_1', 'agent/call_1', 'agent/call_1'])
  })

  it('gives the model the last error when all tries failed', async () => {
    const { execute, count } = failing(...Array.from({ length: 9 }, () => new Error('net')))
    const { agent, clock, events } = setUp(execute, { maxRetries: 5, tools: { maxRetries: 1 } })

    const response = await withTime(clock, runIn(mode, agent))

    expect(count()).toBe(2)
    expect(response.text).toBe('Done.')
    expect(resultOf(response)?.error?.code).toBe('tool_failed')
    expect(events.at(-1)).toMatchObject({ status: 'gave_up', because: 'max_retries', attempt: 2 })
  })

  it.each([
    new ToolError('no', { reason: 'denied' }),
    new ToolError('no', { reason: 'invalid_arguments' }),
    new ToolError('no', { reason: 'rejected' }),
  ])('does not repeat what was refused: $reason', async (error) => {
    const { execute, count } = failing(error)
    const { agent } = setUp(execute)

    const response = await runIn(mode, agent)

    expect(count()).toBe(1)
    expect(resultOf(response)?.error?.code).toBe(error.reason)
  })

  it('repeats what took too long', async () => {
    const { execute, count } = failing(new ToolError('slow', { reason: 'timeout' }))
    const { agent, clock, events } = setUp(execute)

    await withTime(clock, runIn(mode, agent))

    expect(count()).toBe(2)
    expect(events[0]).toMatchObject({ reason: 'timeout' })
  })

  it('goes by the word of a provider that a tool asked', async () => {
    const busy = failing(failure('rate_limit', { retry: { afterMs: 70 } }))
    const first = setUp(busy.execute)
    await withTime(first.clock, runIn(mode, first.agent))
    expect([busy.count(), first.events[0]?.delayMs]).toEqual([2, 70])

    const refused = failing(failure('invalid_request'))
    await runIn(mode, setUp(refused.execute).agent)
    expect(refused.count()).toBe(1)
  })

  it('lets `retryOn` and `when` of tools decide, and `false` switch it off', async () => {
    const choosy = failing(new Error('a'), new Error('b'))
    const { agent, clock, events } = setUp(choosy.execute, {
      tools: { retryOn: ({ error }) => (error as Error).message === 'a' && { delayMs: 9 } },
    })
    await withTime(clock, runIn(mode, agent))
    expect([choosy.count(), events[0]?.delayMs]).toEqual([2, 9])

    const excluded = failing(new Error('a'))
    await runIn(mode, setUp(excluded.execute, { tools: { when: () => false } }).agent)
    expect(excluded.count()).toBe(1)

    const off = failing(new Error('a'))
    const { middleware } = setUp(off.execute, { tools: false })
    expect(middleware.map(({ level }) => level)).toEqual(['chat'])
  })

  it('has one owner, and an inner middleware leaves the call alone', async () => {
    const { execute, count } = failing(...Array.from({ length: 9 }, () => new Error('net')))
    const { agent, clock, events } = setUp(execute, { maxRetries: 1 })
    const inner = retry({ clock, maxRetries: 4, name: 'inner' })

    await withTime(clock, runIn(mode, agent, { middleware: inner }))

    expect(count()).toBe(2)
    expect(events).toHaveLength(2)
  })

  it('only tells in shadow', async () => {
    const { execute, count } = failing(new Error('net'))
    const { agent, events } = setUp(execute, { mode: 'shadow' })

    const response = await runIn(mode, agent)

    expect(count()).toBe(1)
    expect(resultOf(response)?.error?.code).toBe('tool_failed')
    expect(events).toMatchObject([{ status: 'retrying', shadow: true }])
  })

  it('fails the run where a middleware inside keeps failing, and ends its wait with the run', async () => {
    const { agent, clock } = setUp(() => 'done')
    const broken = new Error('middleware')
    const inside = functionMiddleware('inside', () => {
      throw broken
    })
    const failed = withTime(clock, runIn(mode, agent, { middleware: inside }))
    await expect(failed).rejects.toBe(broken)

    const waiting = setUp(failing(new Error('net')).execute)
    const controller = new AbortController()
    const running = runIn(mode, waiting.agent, { signal: controller.signal })
    running.catch(() => {})
    await waiting.clock.advance(1)
    controller.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
    expect(waiting.clock.sleeping).toBe(0)
  })
})

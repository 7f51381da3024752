import { callFunction, scriptedClient, testClock } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type {
  AgentResponseUpdate,
  FunctionInvocationContext,
  MiddlewareInput,
  RunEvent,
} from '../index.ts'
import { Agent, agentTool, functionMiddleware, tool } from '../index.ts'
import { failureOf, modes, outline, play, resultsOf } from './loop-invariant.test-helper.ts'

describe.each(modes)('a tool that is a generator, $name', ({ stream }) => {
  const agentWith = (
    execute: NonNullable<Parameters<typeof tool>[0]['execute']>,
    middleware: MiddlewareInput = [],
  ) =>
    new Agent({
      middleware,
      client: scriptedClient([callFunction('crawl', {}, 'c1'), 'Done.']),
      tools: [tool({ name: 'crawl', description: '', execute })],
    })

  it('streams what it yields as progress; what it returns is the result', async () => {
    const agent = agentWith(async function* () {
      yield { page: 1 }
      yield 'half'
      return 'two pages'
    })
    const events: RunEvent[] = []

    const { response } = await play(agent, 'Go', { onEvent: (event) => events.push(event), stream })

    expect(outline(response.messages)[1]).toBe('tool: c1 = two pages')
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'tool-progress', data: { callId: 'c1', name: 'crawl', value: { page: 1 } } },
      { type: 'tool-progress', data: { callId: 'c1', name: 'crawl', value: 'half' } },
    ])
  })

  it('yields what middlewares make of it, the innermost first; a call that is repeated registers anew', async () => {
    const values: unknown[] = []
    const wrap = (name: string) =>
      functionMiddleware(name, async (context, callNext) => {
        context.transformProgress((value) =>
          value === 'secret' ? undefined : `${name}(${String(value)})`,
        )
        await callNext()
        if (name === 'outer') await callNext()
      })
    const crawl = tool({
      name: 'crawl',
      description: '',
      async *execute() {
        yield 1
        yield 'secret'
        return 'done'
      },
    })
    const agent = new Agent({
      client: scriptedClient([callFunction('crawl', {}, 'c1'), 'Done.']),
      tools: [crawl],
      middleware: [wrap('outer'), wrap('inner')],
    })

    await play(agent, 'Go', { onEvent: ({ data }) => values.push(data), stream })

    expect(values).toEqual(
      ['outer(inner(1))', 'outer(inner(1))'].map((value) => ({
        callId: 'c1',
        name: 'crawl',
        value,
      })),
    )
  })

  it.each([
    [
      'a transform that throws',
      'broken guardrail',
      (context: FunctionInvocationContext) => {
        context.transformProgress(() => {
          throw new Error('broken guardrail')
        })
      },
    ],
  ])('the run fails with %s', async (_name, problem, register) => {
    const crawl = async function* () {
      yield 1
      return 'done'
    }
    const redactor = functionMiddleware('redactor', async (context, callNext) => {
      register(context)
      await callNext()
    })

    const running = play(agentWith(crawl, redactor), 'Go', { stream })

    await expect(running).rejects.toThrow(problem)
  })

  it('a transform that is registered too late throws', async () => {
    const late = functionMiddleware('late', async (context, callNext) => {
      await callNext()
      context.transformProgress((value) => value)
    })

    const running = play(
      agentWith(() => 'done', late),
      'Go',
      { stream },
    )

    await expect(running).rejects.toMatchObject({ code: 'middleware_contract' })
  })

  it('that returns parts gives parts', async () => {
    const picture = {
      type: 'uri',
      uri: 'https://example.org/cat.png',
      mediaType: 'image/png',
    } as const
    const agent = agentWith(async function* () {
      yield 1
      return ['A cat:', picture]
    })

    const { response } = await play(agent, 'Go', { stream })

    expect(resultsOf(response.messages)[0]!.contents).toEqual([
      { type: 'text', text: 'A cat:' },
      picture,
    ])
  })

  it('that throws is an error result, after what it had yielded', async () => {
    const events: unknown[] = []
    const agent = agentWith(async function* () {
      yield 1
      throw new Error('lost')
    })

    const { response } = await play(agent, 'Go', {
      onEvent: ({ data }) => events.push(data),
      stream,
    })

    expect(events).toHaveLength(1)
    expect(resultsOf(response.messages)[0]!.error?.message).toBe('lost')
  })

  it('is closed when the run is aborted', async () => {
    let closed = false
    const controller = new AbortController()
    const agent = agentWith(async function* () {
      try {
        for (;;) yield controller.abort(new Error('the user left'))
      } finally {
        closed = true
      }
    })

    const error = await failureOf(play(agent, 'Go', { signal: controller.signal, stream }))

    expect([error.message, closed]).toEqual(['the user left', true])
  })
})

describe('progress in a stream', () => {
  it('reaches the caller while the tool is still running', async () => {
    const clock = testClock()
    const slow = tool({
      name: 'slow',
      description: '',
      execute: async function* () {
        yield 'begun'
        await clock.sleep(1000)
        return 'done'
      },
    })
    const client = scriptedClient([callFunction('slow', {}, 'c1'), 'Done.'])
    const run = new Agent({ client, tools: [slow] }).run('Go', { stream: true })
    const iterator = run[Symbol.asyncIterator]()

    let update: AgentResponseUpdate | undefined
    do update = (await iterator.next()).value as AgentResponseUpdate
    while (update.event === undefined)

    expect(update.event).toMatchObject({ type: 'tool-progress', data: { value: 'begun' } })
    expect(clock.sleeping).toBe(1)
    await clock.advance(1000)
    await iterator.return?.()
  })

  it('is as far ahead as its reader asks, also in a sub-agent', async () => {
    let made = 0
    const count = tool({
      name: 'count',
      description: '',
      execute: async function* () {
        for (; made < 1000; made++) yield made
        return 'done'
      },
    })
    const counter = new Agent({
      name: 'counter',
      client: scriptedClient([callFunction('count', {}, 'c2'), 'Done.']),
      tools: [count],
    })
    const client = scriptedClient([callFunction('counter', { task: 'Count.' }, 'c1'), 'Done.'])
    const agent = new Agent({ client, tools: [agentTool(counter, { description: '' })] })
    let read = 0
    let lead = 0

    for await (const { event } of agent.run('Go', { stream: true })) {
      if (event?.type !== 'tool-progress') continue
      for (let turn = 0; turn < 5; turn++) await Promise.resolve()
      lead = Math.max(lead, made - ++read)
    }

    expect(read).toBe(1000)
    expect(lead).toBeLessThan(10)
  })

  it('comes between the call and its result', async () => {
    const slow = tool({
      name: 'slow',
      description: '',
      execute: async function* () {
        yield 1
        return 'done'
      },
    })
    const client = scriptedClient([callFunction('slow', {}, 'c1'), 'Done.'])

    const { updates } = await play(new Agent({ client, tools: [slow] }), 'Go', { stream: true })

    const kinds = updates.map(({ event, contents }) => event?.type ?? contents[0]?.type)
    const order = kinds.filter((kind) => kind === 'tool-progress' || kind === 'function-result')
    expect(order).toEqual(['tool-progress', 'function-result'])
    expect(kinds.lastIndexOf('function-call')).toBeLessThan(kinds.indexOf('tool-progress'))
  })
})

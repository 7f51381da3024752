import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LoopState } from '../contract/chat-options.ts'
import type { MiddlewareInput, RunContext, RunEvent } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  defineState,
  functionMiddleware,
  jsonSchema,
  tool,
} from '../index.ts'
import { failureOf, modes, outline, play } from '../loop/loop-invariant.test-helper.ts'

describe.each(modes)('the run that contexts share, $name', ({ stream }) => {
  function make(steps: readonly ScriptedStep[], middleware: MiddlewareInput = []) {
    const client = scriptedClient(steps)
    const work = tool({ name: 'work', description: '', execute: () => 'ok' })
    return { client, agent: new Agent({ client, name: 'worker', tools: [work], middleware }) }
  }

  const work = (callId: string) => callFunction('work', {}, callId)

  it('is the same in all middlewares, and says who, where and what for', async () => {
    const seen: RunContext[] = []
    const iterations: number[] = []
    const see = ({ run }: { run: RunContext }) => {
      seen.push(run)
      iterations.push(run.iteration)
    }
    const middlewares = [
      agentMiddleware('a', async (context, callNext) => {
        see(context)
        await callNext()
      }),
      chatMiddleware('c', async (context, callNext) => {
        see(context)
        await callNext()
      }),
      functionMiddleware('f', async (context, callNext) => {
        see(context)
        await callNext()
      }),
    ]
    const { agent } = make([work('c1'), 'Done.'], middlewares)

    const { response } = await play(agent, 'Go', { data: { user: 'u1' }, runId: 'run_1', stream })

    expect(new Set(seen).size).toBe(1)
    expect(iterations).toEqual([0, 0, 0, 1])
    expect(seen[0]).toMatchObject({
      id: 'run_1',
      agentName: 'worker',
      data: { user: 'u1' },
      depth: 0,
      parent: undefined,
    })
    expect(response.runId).toBe('run_1')
  })

  it('has one cell of state for each definition, gone with the run', async () => {
    const strikes = defineState({ name: 'strikes', initial: () => 0 })
    const seen: number[] = []
    const count = functionMiddleware('count', async ({ run }, callNext) => {
      run.state.update(strikes, (n) => n + 1)
      await callNext()
    })
    const read = chatMiddleware('read', async ({ run }, callNext) => {
      seen.push(run.state.get(strikes))
      await callNext()
    })
    const { agent } = make([[work('c1'), work('c2')], 'Done.', 'Hi.'], [count, read])

    await play(agent, 'Go', { stream })
    await play(agent, 'Go', { stream })

    expect(seen).toEqual([0, 2, 0])
  })

  it('knows the usage so far, also of calls that a middleware made itself or thrown away', async () => {
    const seen: unknown[] = []
    const retry = chatMiddleware('retry', async ({ run, iteration }, callNext) => {
      seen.push(run.usage.totalTokens)
      await callNext()
      if (iteration === 0) await callNext()
      run.addUsage({ totalTokens: 100, judgeTokens: 1 })
    })
    const { agent } = make(['First.', 'Second.'], retry)

    const { response } = await play(agent, 'Go', { stream })

    expect(seen).toEqual([undefined])
    expect(response.usage).toEqual({
      inputTokens: 20,
      outputTokens: 10,
      totalTokens: 130,
      judgeTokens: 1,
    })
  })

  it('names the provider of a call that was made, failed or not, and of no other', async () => {
    const seen: unknown[] = []
    const see = chatMiddleware('see', async ({ run }, callNext) => {
      await callNext().finally(() => seen.push(run.servedBy))
    })
    const options = {
      toolChoice: ({ iteration }: LoopState) => {
        if (iteration === 1) throw new Error('undecided')
        return 'auto' as const
      },
    }
    const { agent } = make([work('c1'), new Error('down')], see)

    expect(await failureOf(play(agent, 'Go', { options, stream }))).toMatchObject({
      message: 'undecided',
    })
    expect(await failureOf(play(agent, 'Go', { stream }))).toMatchObject({ message: 'down' })
    expect(seen).toEqual(['scripted', undefined, 'scripted'])
  })

  it('keeps the attempts that middlewares record, with their round', async () => {
    const retry = chatMiddleware('retry', async ({ run, iteration }, callNext) => {
      if (iteration === 1)
        run.recordAttempt({ status: 'failed', reason: 'overloaded', delayMs: 10 })
      await callNext()
    })
    const { agent } = make([work('c1'), 'Done.'], retry)

    const { response } = await play(agent, 'Go', { stream })

    expect(response.attempts).toEqual([
      { iteration: 1, status: 'failed', reason: 'overloaded', delayMs: 10 },
    ])
  })

  it('the conversation grows by what the model and the tools say', async () => {
    const seen: string[][] = []
    const see = chatMiddleware('see', async ({ run }, callNext) => {
      seen.push(outline(run.messages.all))
      await callNext()
    })
    const { agent } = make([work('c1'), 'Done.'], see)

    await play(agent, 'Go', { stream })

    expect(seen).toEqual([['user: Go'], ['user: Go', 'assistant: work(c1)', 'tool: c1 = ok']])
  })

  describe('emit', () => {
    it('reaches `onEvent`, and the stream in order', async () => {
      const events: RunEvent[] = []
      const note = functionMiddleware('note', async ({ run }, callNext) => {
        run.emit({ type: 'before', data: 1 })
        await callNext()
        run.emit({ type: 'after' })
      })
      const { agent } = make([work('c1'), 'Done.'], note)

      const { response, updates } = await play(agent, 'Go', {
        onEvent: (event) => events.push(event),
        stream,
      })

      expect(events).toEqual([
        { type: 'before', data: 1, runId: response.runId },
        { type: 'after', data: undefined, runId: response.runId },
      ])
      expect(updates.flatMap(({ event }) => event ?? [])).toEqual(stream ? events : [])
    })

    it('an observer that throws breaks nothing', async () => {
      const note = agentMiddleware('note', async ({ run }, callNext) => {
        run.emit({ type: 'note' })
        await callNext()
      })
      const { agent } = make(['Done.'], note)
      const onEvent = () => {
        throw new Error('observer')
      }

      const { response } = await play(agent, 'Go', { onEvent, stream })

      expect(response.text).toBe('Done.')
    })
  })

  describe('request', () => {
    const asks = (init: Parameters<RunContext['request']>[0], got: unknown[]) =>
      functionMiddleware('asks', async ({ run }, callNext) => {
        got.push(await run.request(init))
        await callNext()
      })

    it('is answered by `onRequest`, which sees the id', async () => {
      const got: unknown[] = []
      const seen: RunEvent[] = []
      const { agent } = make([work('c1'), 'Done.'], asks({ type: 'ok?', data: { n: 1 } }, got))

      await play(agent, 'Go', {
        onRequest: (event) => {
          seen.push(event)
          return { yes: true }
        },
        stream,
      })

      expect(got).toEqual([{ yes: true }])
      expect(seen).toMatchObject([
        { type: 'ok?', data: { n: 1 }, id: expect.stringMatching(/^request_/) },
      ])
    })

    it('is checked against its schema, and the answer is what the schema makes of it', async () => {
      const got: unknown[] = []
      const schema = {
        type: 'object',
        properties: { n: { type: 'number' } },
        required: ['n'],
      } as const
      const { agent } = make(
        [work('c1'), 'Done.'],
        asks({ type: 'n?', schema: jsonSchema(schema) }, got),
      )

      const error = await failureOf(
        play(agent, 'Go', { onRequest: async () => ({ n: 'one' }), stream }),
      )

      expect(error).toMatchObject({
        code: 'schema_invalid',
        message: expect.stringContaining('n?'),
      })
      expect(error.message).not.toContain('one')
      expect(got).toEqual([])
    })

    it.each<[string, () => unknown]>([
      [
        'throws',
        () => {
          throw new Error('nobody home')
        },
      ],
      [
        'rejects',
        async () => {
          throw new Error('nobody home')
        },
      ],
    ])('fails at once where `onRequest` %s', async (_, onRequest) => {
      const { agent } = make([work('c1')], asks({ type: 'ok?' }, []))

      const error = await failureOf(play(agent, 'Go', { onRequest, stream }))

      expect(error.message).toBe('nobody home')
    })

    it('of a run that was aborted is not sent', async () => {
      const controller = new AbortController()
      const asked: RunEvent[] = []
      const ask = functionMiddleware('ask', async ({ run }, callNext) => {
        controller.abort(new Error('the user left'))
        await run.request({ type: 'ok?' })
        await callNext()
      })
      const { agent } = make([work('c1')], ask)
      const onRequest = (event: RunEvent) => void asked.push(event)

      const error = await failureOf(
        play(agent, 'Go', { onRequest, signal: controller.signal, stream }),
      )

      expect(error.message).toBe('the user left')
      expect(asked).toEqual([])
    })

    it('that may take no time is a mistake', async () => {
      const { agent } = make([work('c1')], asks({ type: 'ok?', timeoutMs: 0 }, []))

      const error = await failureOf(play(agent, 'Go', { onRequest: () => 1, stream }))

      expect(error).toBeInstanceOf(RangeError)
    })

    describe('that nobody answers', () => {
      beforeEach(() => void vi.useFakeTimers())
      afterEach(() => void vi.useRealTimers())

      it.each([50, 2 ** 31])('fails after its time, and not before: %i ms', async (timeoutMs) => {
        const { agent } = make([work('c1')], asks({ type: 'ok?', timeoutMs }, []))

        const failing = failureOf(play(agent, 'Go', { onRequest: () => undefined, stream }))
        await vi.advanceTimersByTimeAsync(timeoutMs - 1)
        const before = vi.getTimerCount()
        await vi.advanceTimersByTimeAsync(1)

        expect(await failing).toMatchObject({
          code: 'timeout',
          message: expect.stringContaining(`${timeoutMs} ms`),
        })
        expect([before, vi.getTimerCount()]).toEqual([1, 0])
      })

      it('ends with the run when that is aborted', async () => {
        const controller = new AbortController()
        const { agent } = make([work('c1')], asks({ type: 'ok?' }, []))
        const onRequest = () => controller.abort(new Error('the user left'))

        const error = await failureOf(
          play(agent, 'Go', { onRequest, signal: controller.signal, stream }),
        )

        expect(error.message).toBe('the user left')
        expect(vi.getTimerCount()).toBe(0)
      })
    })
  })
})

describe('a request in a stream', () => {
  it('is answered by `respond`, once', async () => {
    const client = scriptedClient([callFunction('work', {}, 'c1'), 'Done.'])
    const got: unknown[] = []
    const work = tool({
      name: 'work',
      description: '',
      execute: async (_, { run }) => void got.push(await run.request({ type: 'ok?' })),
    })
    const run = new Agent({ client, tools: [work] }).run('Go', { stream: true })

    const taken: boolean[] = []
    for await (const { event } of run) {
      if (event?.id === undefined) continue
      taken.push(
        run.respond('request_0', 'forged'),
        run.respond(event.id, 'yes'),
        run.respond(event.id, 'again'),
      )
    }

    expect(taken).toEqual([false, true, false])
    expect(got).toEqual(['yes'])
  })
})

it('a request that nobody answered in time takes no answer, and is public if it says so', async () => {
  const client = scriptedClient([callFunction('work', {}, 'c1'), 'Done.'])
  const work = tool({
    name: 'work',
    description: '',
    async execute(_, { run }) {
      await run.request({ type: 'late?', timeoutMs: 1 }).catch(() => {})
      await run.request({ type: 'ok?', public: true })
    },
  })
  const run = new Agent({ client, tools: [work] }).run('Go', { stream: true })
  const events: unknown[] = []
  const taken: boolean[] = []
  let late = ''

  for await (const { event } of run) {
    if (event?.id === undefined) continue
    events.push([event.type, event.public])
    if (event.type === 'late?') late = event.id
    else taken.push(run.respond(late, 1), run.respond(event.id, 1))
  }

  expect(events).toEqual([
    ['late?', undefined],
    ['ok?', true],
  ])
  expect(taken).toEqual([false, true])
})

it('a run that has asked nothing takes no answer', async () => {
  const run = new Agent({ client: scriptedClient(['Hi.']) }).run('Go', { stream: true })
  const taken: boolean[] = []

  for await (const _ of run) taken.push(run.respond('request_0', 1))

  expect(new Set(taken)).toEqual(new Set([false]))
})

describe('a request in a plain run without `onRequest`', () => {
  it('fails at once, since nobody could answer', async () => {
    const ask = agentMiddleware('ask', async ({ run }, callNext) => {
      await run.request({ type: 'ok?' })
      await callNext()
    })
    const agent = new Agent({ client: scriptedClient([]), middleware: ask })

    const error = await failureOf(agent.run('Go'))

    expect(error.message).toContain('no handler for the request "ok?"')
  })
})

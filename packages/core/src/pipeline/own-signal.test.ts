import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentContext, ChatContext, Middleware } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  outcomeOf,
  RunControl,
  tool,
  ToolError,
} from '../index.ts'

/** Rejects with the signal's reason, and never otherwise. */
function stalled(signal: AbortSignal, heard: unknown[]): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      heard.push(signal.reason)
      reject(signal.reason as Error)
    })
  })
}

/** Cancels the call as soon as the inside says that it waits. */
async function giveUp(
  context: { signal: AbortSignal },
  callNext: () => Promise<unknown>,
  own: AbortController,
): Promise<void> {
  context.signal = AbortSignal.any([context.signal, own.signal])
  await callNext()
}

const late = new Error('late')

describe.each(runModes)('a signal of a middleware, %s', (mode) => {
  it('at agent level, ends the model call of the run', async () => {
    const own = new AbortController()
    const heard: unknown[] = []
    const client = scriptedClient(({ signal }) => {
      queueMicrotask(() => own.abort(late))
      return stalled(signal, heard)
    })
    const impatient = agentMiddleware('impatient', (context, callNext) =>
      giveUp(context, callNext, own),
    )

    const error: unknown = await runIn(mode, new Agent({ client, middleware: impatient })).catch(
      (thrown: unknown) => thrown,
    )

    expect(error).toBe(late)
    expect(heard).toEqual([late])
    expect(outcomeOf(error)?.status).toBe('failed')
  })

  it.each([
    ['agent', agentMiddleware],
    ['chat', chatMiddleware],
  ])('at %s level, that is aborted already lets no model call begin', async (_, middleware) => {
    const client = scriptedClient([])
    const hasty = middleware(
      'late',
      async (context: { signal: AbortSignal }, callNext: () => Promise<unknown>) => {
        context.signal = AbortSignal.abort(late)
        await callNext()
      },
    )

    await expect(runIn(mode, new Agent({ client, middleware: hasty }))).rejects.toBe(late)

    expect(client.requests).toEqual([])
  })

  it('at agent level, ends tool calls and waits of middlewares, and no model call follows', async () => {
    const own = new AbortController()
    const heard: unknown[] = []
    const client = scriptedClient([[callFunction('slow'), callFunction('slow')]])
    const slow = tool({
      name: 'slow',
      description: 'Never ends.',
      execute: (_, { signal }) => stalled(signal, heard),
    })
    const impatient = agentMiddleware('impatient', (context, callNext) =>
      giveUp(context, callNext, own),
    )
    const waiting = functionMiddleware('waiting', async (context, callNext) => {
      if (heard.push('entered') === 2) setTimeout(() => own.abort(late), 0)
      await Promise.race([stalled(context.signal, heard), callNext()])
    })
    const agent = new Agent({ client, tools: [slow], middleware: [impatient, waiting] })

    await expect(runIn(mode, agent)).rejects.toBe(late)

    expect(heard.filter((entry) => entry === late)).toHaveLength(4)
    client.assertDone()
  })

  it.each(['the run', 'a middleware of the run'])(
    'of %s that aborts right after the model has answered keeps its calls from being executed',
    async (owner) => {
      const abort = new AbortController()
      let calls = 0
      const work = tool({ name: 'work', description: 'Works.', execute: () => 'done' })
      const middleware = [
        functionMiddleware('counting', async (_, callNext) => {
          calls++
          await callNext()
        }),
        agentMiddleware('impatient', async (context, callNext) => {
          if (owner !== 'the run') context.signal = abort.signal
          await callNext()
        }),
        chatMiddleware('slow', async (_, callNext) => {
          await callNext()
          abort.abort(late)
        }),
      ]
      const client = scriptedClient([callFunction('work')])
      const agent = new Agent({ client, tools: [work], middleware })

      const running = runIn(mode, agent, owner === 'the run' ? { signal: abort.signal } : {})

      await expect(running).rejects.toBe(late)
      expect(calls).toBe(0)
    },
  )

  it('at agent level, lets the middleware answer in place of the run', async () => {
    const own = new AbortController()
    const client = scriptedClient(({ signal }) => {
      queueMicrotask(() => own.abort(late))
      return stalled(signal, [])
    })
    const patientless = agentMiddleware('impatient', async (context, callNext) => {
      await giveUp(context, callNext, own).catch(() => {
        context.result = 'It took too long.'
      })
    })

    const response = await runIn(mode, new Agent({ client, middleware: patientless }))

    expect(response).toMatchObject({ status: 'completed', text: 'It took too long.' })
  })

  it('at function level, ends that tool call alone', async () => {
    const heard: unknown[] = []
    const client = scriptedClient([[callFunction('slow'), callFunction('quick')], 'Done.'])
    const gaveUp = new ToolError('no time', { reason: 'timeout' })
    const impatient = functionMiddleware('impatient', async (context, callNext) => {
      const own = new AbortController()
      if (context.function.name === 'slow') setTimeout(() => own.abort(gaveUp), 0)
      await giveUp(context, callNext, own)
    })
    const tools = [
      tool({
        name: 'slow',
        description: 'Never ends.',
        // Its own time is longer, and a middleware's signal is heard through it.
        timeoutMs: 60_000,
        execute: (_, { signal }) => stalled(signal, heard),
      }),
      tool({ name: 'quick', description: 'Ends.', execute: () => 'quick' }),
    ]

    const response = await runIn(mode, new Agent({ client, tools, middleware: impatient }))

    const results = response.messages.flatMap(({ contents }) =>
      contents.flatMap((content) => (content.type === 'function-result' ? [content] : [])),
    )
    expect(response.text).toBe('Done.')
    expect(results.map(({ error }) => error?.code)).toEqual(['timeout', undefined])
    expect(heard).toEqual([gaveUp])
  })

  it.each([undefined, 60_000])(
    'at function level, that is aborted already lets no tool begin, with a time of %s',
    async (timeoutMs) => {
      let calls = 0
      const work = tool({ name: 'work', description: 'Works.', timeoutMs, execute: () => ++calls })
      const hasty = functionMiddleware('hasty', async (context, callNext) => {
        context.signal = AbortSignal.abort(new ToolError('no time', { reason: 'timeout' }))
        await callNext()
      })
      const client = scriptedClient([callFunction('work'), 'Done.'])

      const { text } = await runIn(mode, new Agent({ client, tools: [work], middleware: hasty }))

      expect([text, calls]).toEqual(['Done.', 0])
    },
  )

  it('that is the run’s own is one with it', async () => {
    const control = new RunControl()
    const seen: unknown[] = []
    const client = scriptedClient(({ signal }) => {
      queueMicrotask(() => void control.cancel())
      return stalled(signal, [])
    })
    const process = async (
      context: ChatContext | AgentContext,
      callNext: () => Promise<unknown>,
    ) => {
      context.signal = context.run.signal
      await callNext().finally(() => seen.push(context.signal === context.run.signal))
    }
    const middleware = [agentMiddleware('outer', process), chatMiddleware('inner', process)]

    const error: unknown = await runIn(mode, new Agent({ client, middleware }), { control }).catch(
      (thrown: unknown) => thrown,
    )

    expect(error).toMatchObject({ code: 'aborted' })
    expect(outcomeOf(error)?.status).toBe('aborted')
    expect(client.requests[0]!.signal.reason).toBe(error)
    expect(seen).toEqual([true, true])
  })

  it('that is the run’s may be asked for as late as the run is aborted', async () => {
    const control = new RunControl()
    const seen: unknown[] = []
    const client = scriptedClient(({ signal }) => {
      queueMicrotask(() => void control.cancel())
      return stalled(signal, [])
    })
    const asking = async (
      context: ChatContext | AgentContext,
      callNext: () => Promise<unknown>,
    ) => {
      await callNext().catch((error: unknown) => {
        const { signal, run } = context
        seen.push([signal === run.signal, signal.aborted, signal.reason === error])
        throw error
      })
    }
    const middleware = [agentMiddleware('outer', asking), chatMiddleware('inner', asking)]

    await expect(runIn(mode, new Agent({ client, middleware }), { control })).rejects.toMatchObject(
      { code: 'aborted' },
    )

    expect(seen).toEqual([
      [true, true, true],
      [true, true, true],
    ])
  })

  it('is seen by inner middlewares and not by outer ones', async () => {
    const own = new AbortController()
    const seen: (boolean | undefined)[] = []
    const middlewares = (level: Middleware['level']): Middleware[] => {
      let outer: AbortSignal | undefined
      const process =
        (at: string) =>
        async (context: { signal: AbortSignal }, callNext: () => Promise<unknown>) => {
          if (at === 'outer') outer = context.signal
          if (at === 'middle') context.signal = AbortSignal.any([context.signal, own.signal])
          if (at === 'inner') seen.push(context.signal === outer)
          await callNext()
          if (at === 'outer') seen.push(context.signal === outer)
        }
      return ['outer', 'middle', 'inner'].map((at) => {
        if (level === 'agent') return agentMiddleware(at, process(at))
        if (level === 'chat') return chatMiddleware(at, process(at))
        return functionMiddleware(at, process(at))
      })
    }
    const client = scriptedClient([callFunction('quick'), 'Done.'])
    const tools = [tool({ name: 'quick', description: 'Ends.', execute: () => 'quick' })]
    const middleware = [...middlewares('agent'), ...middlewares('chat'), ...middlewares('function')]

    await runIn(mode, new Agent({ client, tools, middleware }))

    expect(seen.filter((isSame) => isSame === true)).toHaveLength(4)
    expect(seen.filter((isSame) => isSame === false)).toHaveLength(4)
  })
})

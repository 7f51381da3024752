import type { ScriptedStep } from '@lamella/testing'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { Middleware } from '../index.ts'
import {
  Agent,
  MiddlewareContractError,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  tool,
} from '../index.ts'
import { readUpdates, traced } from '../run/run.test-helper.ts'

const levels = ['agent', 'chat', 'function'] as const
const toolRound: readonly ScriptedStep[] = [callFunction('look'), 'Done.']

function looking(log: string[] = []) {
  return tool({
    name: 'look',
    description: 'Looks.',
    parameters: jsonSchema({ type: 'object' }),
    execute() {
      log.push('tool')
      return 'found'
    },
  })
}

type Process = (
  context: { result: unknown },
  callNext: () => Promise<unknown>,
) => void | Promise<unknown>

function middlewareAt(
  level: Middleware['level'],
  process: Process,
  name = 'middleware',
): Middleware {
  const made = process as (context: never, callNext: () => Promise<never>) => void
  if (level === 'agent') return agentMiddleware(name, made)
  return level === 'chat' ? chatMiddleware(name, made) : functionMiddleware(name, made)
}

function agentWith(middleware: readonly Middleware[], log?: string[]) {
  const client = scriptedClient(({ index }) => toolRound[index] as string)
  return { client, agent: new Agent({ client, tools: [looking(log)], middleware }) }
}

describe.each(runModes)('the order of middlewares, %s', (mode) => {
  it('without middlewares the answer is the model’s', async () => {
    const { agent } = agentWith([])

    const { text, status, messages } = await runIn(mode, agent)

    expect([text, status]).toEqual(['Done.', 'completed'])
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant'])
  })

  it('the levels nest around what they are about, in every round', async () => {
    const log: string[] = []
    const { agent } = agentWith(
      levels.flatMap((level) => [1, 2, 3].map((at) => traced(level, `${level}${at}`, log))),
      log,
    )

    await runIn(mode, agent)

    const around = (name: string, inside: readonly string[]): string[] => [
      ...[1, 2, 3].map((at) => `${name}${at} in`),
      ...inside,
      ...[3, 2, 1].map((at) => `${name}${at} out`),
    ]
    const rounds = [...around('chat', []), ...around('function', ['tool']), ...around('chat', [])]
    expect(log).toEqual(around('agent', rounds))
  })

  it('function middlewares do not run where no tool is called', async () => {
    const log: string[] = []
    const client = scriptedClient(['Done.'])
    const middleware = levels.map((level) => traced(level, level, log))

    await runIn(mode, new Agent({ client, tools: [looking()], middleware }))

    expect(log).toEqual(['agent in', 'chat in', 'chat out', 'agent out'])
  })

  it('a middleware runs its code after callNext() when the inner work is complete', async () => {
    const texts: (string | undefined)[] = []
    const client = scriptedClient(['Some words.'], { chunk: 'char' })
    const observe = middlewareAt('chat', async (context, callNext) => {
      const result = (await callNext()) as { text: string }
      texts.push(result.text)
      expect(context.result).toBe(result)
    })

    await runIn(mode, new Agent({ client, middleware: observe }))

    expect(texts).toEqual(['Some words.'])
  })

  it.each(levels)(
    'at %s level the result is missing before callNext() and there after',
    async (level) => {
      const seen: unknown[] = []
      const observe = middlewareAt(level, async (context, callNext) => {
        seen.push(context.result)
        await callNext()
        seen.push(typeof context.result)
      })

      await runIn(mode, agentWith([observe]).agent)

      expect(seen.slice(0, 2)).toEqual([undefined, 'object'])
    },
  )

  it.each(levels)(
    'at %s level a middleware may call again, and everything inside runs again',
    async (level) => {
      const log: string[] = []
      let calls = 0
      const twice = middlewareAt(level, async (_, callNext) => {
        await callNext()
        if (calls++ === 0) await callNext()
      })
      const client = scriptedClient(({ index, messages }) =>
        index === 0 || messages.at(-1)!.role === 'user' ? callFunction('look') : 'Done.',
      )
      const middleware = [twice, traced(level, 'inner', log)]

      const { text } = await runIn(mode, new Agent({ client, tools: [looking(log)], middleware }))

      expect(text).toBe('Done.')
      expect(log.filter((entry) => entry === 'inner in').length).toBeGreaterThan(1)
    },
  )

  it.each(levels)(
    'at %s level a middleware may be a plain function that returns callNext()',
    async (level) => {
      const passing = middlewareAt(level, (_, callNext) => callNext())

      expect((await runIn(mode, agentWith([passing]).agent)).text).toBe('Done.')
    },
  )

  it.each(levels)(
    'at %s level a middleware may set its result without a promise',
    async (level) => {
      const log: string[] = []
      const short = middlewareAt(level, (context) => {
        context.result = 'short'
      })

      const response = await runIn(mode, agentWith([short], log).agent)

      expect(log).toEqual([])
      expect(JSON.stringify(response.messages)).toContain('short')
    },
  )

  it.each(levels)('at %s level a short circuit leaves what is inside alone', async (level) => {
    const log: string[] = []
    const short = middlewareAt(level, (context) => {
      context.result = 'short'
    })

    await runIn(
      mode,
      agentWith([traced(level, 'outer', log), short, traced(level, 'inner', log)]).agent,
    )

    expect(log.slice(0, 2)).toEqual(['outer in', 'outer out'])
    expect(log.some((entry) => entry.startsWith('inner'))).toBe(false)
  })
})

describe.each(runModes)('what middlewares throw, %s', (mode) => {
  it.each(levels)(
    'at %s level an error passes the outer middlewares unchanged to the caller',
    async (level) => {
      const error = new Error('broken')
      const seen: unknown[] = []
      const outer = middlewareAt(level, async (_, callNext) => {
        await callNext().catch((caught: unknown) => {
          seen.push(caught)
          throw caught
        })
      })
      const broken = middlewareAt(level, () => {
        throw error
      })

      await expect(runIn(mode, agentWith([outer, broken]).agent)).rejects.toBe(error)
      expect(seen).toEqual([error])
    },
  )

  it.each(['first', 'middle', 'last'])(
    'the %s of three middlewares may fail; its outer ones see it',
    async (which) => {
      const log: string[] = []
      const at = ['first', 'middle', 'last'].indexOf(which)
      const make = (index: number): Middleware =>
        middlewareAt('chat', async (_, callNext) => {
          if (index === at) throw new Error('broken')
          await callNext().catch((error: unknown) => {
            log.push(`${index}`)
            throw error
          })
        })

      const running = runIn(mode, agentWith([make(0), make(1), make(2)]).agent)

      await expect(running).rejects.toThrow('broken')
      expect(log).toEqual(['1', '0'].slice(2 - at))
    },
  )

  it('a middleware sees what the provider throws, and may put a result in its place', async () => {
    const client = scriptedClient([{ updates: ['Some '], error: new Error('cut') }])
    const recovering = middlewareAt('chat', async (context, callNext) => {
      await callNext().catch(() => {
        context.result = 'recovered'
      })
    })

    const { text } = await runIn(mode, new Agent({ client, middleware: recovering }))

    expect(text).toBe('recovered')
  })

  it('what a middleware throws without a promise is as good as a rejection', async () => {
    const broken = middlewareAt('agent', () => {
      throw new Error('at once')
    })

    await expect(runIn(mode, agentWith([broken]).agent)).rejects.toThrow('at once')
  })

  it('anything can be thrown, even nothing', async () => {
    const nothing = middlewareAt('chat', () => Promise.reject(undefined))

    await expect(runIn(mode, agentWith([nothing]).agent)).rejects.toBeUndefined()
  })
})

describe.each(runModes)('what breaks the rules of callNext(), %s', (mode) => {
  const breaches: readonly (readonly [string, Process, RegExp])[] = [
    ['doing nothing', () => {}, /neither set context\.result nor let callNext\(\) give one/],
    [
      'two calls at once',
      async (_, callNext) => {
        await Promise.all([callNext(), callNext()])
      },
      /while an earlier call was still running/,
    ],
    [
      'two calls at once, one of which nobody waits for',
      async (_, callNext) => {
        const first = callNext()
        void callNext()
        await first
      },
      /while an earlier call was still running/,
    ],
    [
      'two calls at once, the error swallowed',
      async (_, callNext) => {
        const first = callNext()
        await callNext().catch(() => {})
        await first
      },
      /while an earlier call was still running/,
    ],
    [
      'a call that nobody waits for',
      async (_, callNext) => {
        void callNext()
      },
      /returned before its callNext\(\) had settled/,
    ],
    [
      'clearing the result',
      async (context, callNext) => {
        await callNext()
        context.result = undefined
      },
      /neither set context\.result/,
    ],
  ]

  describe.each(levels)('at %s level', (level) => {
    it.each(breaches)(
      '%s fails the run with an error that names the middleware',
      async (_, process, message) => {
        const { agent, client } = agentWith([middlewareAt(level, process, 'careless')])

        const error: unknown = await runIn(mode, agent).catch((caught: unknown) => caught)

        expect(error).toBeInstanceOf(MiddlewareContractError)
        expect(error).toMatchObject({ middleware: 'careless', code: 'middleware_contract' })
        expect((error as Error).message).toMatch(message)
        expect(client.openStreams).toBe(0)
      },
    )

    it('a call or an edit after the middleware has returned is refused', async () => {
      let late: (() => Promise<unknown>) | undefined
      let kept: object = {}
      const careless = middlewareAt(
        level,
        (context, callNext) => {
          late = callNext
          kept = context
          context.result = 'short'
        },
        'careless',
      )
      const { agent, client } = agentWith([careless])
      await runIn(mode, agent)
      const { length } = client.requests

      const error = await late!().catch((caught: unknown) => caught)

      expect(error).toMatchObject({ middleware: 'careless' })
      expect((error as Error).message).toMatch(/after it had returned/)
      const edit = level === 'function' ? { arguments: {} } : { options: {} }
      expect(() => Object.assign(kept, edit)).toThrow(/after it had returned/)
      expect(() => Object.assign(kept, { result: 'long' })).toThrow(/after it had returned/)
      expect(client.requests).toHaveLength(length)
    })
  })

  it('a middleware inside that breaks the rules can be recovered from', async () => {
    const careful = middlewareAt('chat', async (context, callNext) => {
      await callNext().catch(() => {
        context.result = 'recovered'
      })
    })
    const { agent } = agentWith([careful, middlewareAt('chat', () => {})])

    expect((await runIn(mode, agent)).text).toBe('recovered')
  })

  it('a middleware that gives up waiting leaves the call to nobody, and a retry outside gets its own', async () => {
    let attempts = 0
    const retry = middlewareAt('chat', (_, callNext) => callNext().catch(() => callNext()))
    const impatient = middlewareAt('chat', async (_, callNext) => {
      if (attempts++ > 0) return callNext()
      return Promise.race([callNext(), Promise.reject(new Error('too slow'))])
    })
    const client = scriptedClient([{ updates: ['late'], hang: true }, 'in time'])
    const agent = new Agent({ client, middleware: [retry, impatient] })

    expect((await runIn(mode, agent)).text).toBe('in time')
  })

  it.each([
    ['fails', () => Promise.reject(new Error('too late'))],
    ['comes to an answer', () => Promise.resolve('late')],
  ] as const)(
    'a request that %s after a middleware canceled it does not disturb the next one',
    async (_, end) => {
      const aborted: number[] = []
      const next = gate()
      let attempts = 0
      const retry = middlewareAt('chat', (_context, callNext) => callNext().catch(() => callNext()))
      const impatient = middlewareAt('chat', async (_context, callNext) => {
        if (attempts++ > 0) return callNext()
        return Promise.race([callNext(), Promise.reject(new Error('too slow'))])
      })
      const client = scriptedClient(async ({ signal, index }) => {
        signal.addEventListener('abort', () => aborted.push(index))
        if (index === 0) return next.opened.then(end)
        next.open()
        await later()
        return 'in time'
      })
      const agent = new Agent({ client, middleware: [retry, impatient] })

      const response = await runIn(mode, agent)

      expect(response.text).toBe('in time')
      expect(aborted).toEqual([0])
    },
  )

  it('an answer that was being transformed when a middleware gave up does not disturb the next one', async () => {
    const aborted: number[] = []
    const [arrived, transformed] = [gate(), gate()]
    let attempts = 0
    const retry = chatMiddleware('retry', async (context, callNext) => {
      context.transformUpdates({
        async transform(update, controller) {
          arrived.open()
          await transformed.opened
          controller.enqueue(update)
        },
      })
      await callNext().catch(() => callNext())
    })
    const impatient = middlewareAt('chat', async (_, callNext) => {
      const limit = attempts++ === 0 ? arrived.opened : transformed.opened.then(later)
      const late = limit.then(() => Promise.reject(new Error('too slow')))
      await Promise.race([callNext(), late]).finally(() => void later().then(transformed.open))
    })
    const client = scriptedClient(({ signal, index }) => {
      signal.addEventListener('abort', () => aborted.push(index))
      return index === 0 ? 'late' : new Promise(() => {})
    })
    const agent = new Agent({ client, middleware: [retry, impatient] })

    await expect(runIn(mode, agent)).rejects.toThrow('too slow')

    expect(aborted).toEqual([0, 1])
  })
})

function later(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open: () => open() }
}

describe('the order of middlewares while a stream is read', () => {
  it('middlewares are entered with the first pull and left after the last update', async () => {
    const log: string[] = []
    const client = scriptedClient(['one two three'])
    const agent = new Agent({
      client,
      middleware: [traced('agent', 'a', log), traced('chat', 'c', log)],
    })

    const stream = agent.run('Hello', { stream: true })
    expect(log).toEqual([])
    for await (const { contents } of stream) log.push(...contents.map(({ type }) => type))

    expect(log).toEqual(['a in', 'c in', 'text', 'text', 'text', 'c out', 'a out'])
    expect(client.requests).toHaveLength(1)
  })

  it('updates of all rounds come in order, tool results between them', async () => {
    const { agent } = agentWith([])

    const { updates } = await readUpdates(agent)

    const types = updates.flatMap(({ contents }) => contents.map(({ type }) => type))
    expect([...new Set(types)]).toEqual(['function-call', 'function-result', 'text'])
  })
})

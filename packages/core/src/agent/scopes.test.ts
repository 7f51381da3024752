import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { ChatMiddleware, FunctionMiddleware, Middleware } from '../index.ts'
import { Agent, chatMiddleware, jsonSchema, tool, withMiddleware } from '../index.ts'
import { respondIn, traced } from '../run/run.test-helper.ts'

const look = tool({
  name: 'look',
  description: 'Looks.',
  parameters: jsonSchema({ type: 'object' }),
  execute: () => 'found',
})

function chat(name: string, log: string[]): ChatMiddleware {
  return traced('chat', name, log) as ChatMiddleware
}

function entered(log: readonly string[]): string[] {
  return log.filter((entry) => entry.endsWith(' in')).map((entry) => entry.slice(0, -3))
}

describe.each(runModes)('scopes, %s', (mode) => {
  it('a client’s middlewares are outside an agent’s, and those outside a run’s', async () => {
    const log: string[] = []
    const levels = ['chat', 'function'] as const
    const of = (scope: string): Middleware[] =>
      levels.map((level) => traced(level, `${scope} ${level}`, log))
    const client = scriptedClient([callFunction('look'), 'Done.'], {
      middleware: of('client') as (ChatMiddleware | FunctionMiddleware)[],
    })
    const agent = new Agent({ client, tools: [look], middleware: of('agent') })

    await runIn(mode, agent, { middleware: of('run') })

    const chats = ['client chat', 'agent chat', 'run chat']
    const functions = ['client function', 'agent function', 'run function']
    expect(entered(log)).toEqual([...chats, ...functions, ...chats])
  })

  it('an agent’s agent middlewares are outside a run’s, which see what those put in metadata', async () => {
    const seen: unknown[] = []
    const outer: Middleware = {
      level: 'agent',
      name: 'outer',
      async process(context, callNext) {
        context.metadata['from'] = 'outer'
        await callNext()
        seen.push(context.metadata['back'])
      },
    }
    const inner: Middleware = {
      level: 'agent',
      name: 'inner',
      async process(context, callNext) {
        seen.push(context.metadata['from'])
        context.metadata['back'] = 'inner'
        await callNext()
      },
    }
    const agent = new Agent({ client: scriptedClient(['Done.']), middleware: outer })

    await runIn(mode, agent, { middleware: inner })

    expect(seen).toEqual(['outer', 'inner'])
  })

  it('both levels at both scopes: nine steps around a tool', async () => {
    const log: string[] = []
    const client = scriptedClient([callFunction('look'), 'Done.'])
    const of = (scope: string): Middleware[] => [
      traced('agent', `${scope} agent`, log),
      traced('function', `${scope} function`, log),
    ]
    const stepping = tool({
      name: 'look',
      description: 'Looks.',
      parameters: jsonSchema({ type: 'object' }),
      execute: () => void log.push('tool'),
    })
    const agent = new Agent({ client, tools: [stepping], middleware: of('agent') })

    await runIn(mode, agent, { middleware: of('run') })

    expect(log).toEqual([
      'agent agent in',
      'run agent in',
      'agent function in',
      'run function in',
      'tool',
      'run function out',
      'agent function out',
      'run agent out',
      'agent agent out',
    ])
  })

  it('a run’s middlewares are gone with it', async () => {
    const log: string[] = []
    const agent = new Agent({ client: scriptedClient(() => 'Done.') })

    await runIn(mode, agent, { middleware: [chat('first', log), traced('agent', 'whole', log)] })
    await runIn(mode, agent, { middleware: [chat('second', log), chat('inner', log)] })
    await runIn(mode, agent)

    expect(entered(log)).toEqual(['whole', 'first', 'second', 'inner'])
  })

  it('runs at the same time keep their middlewares apart', async () => {
    const logs: string[][] = [[], [], []]
    const agent = new Agent({ client: scriptedClient(() => 'Done.') })

    await Promise.all(logs.map((log, at) => runIn(mode, agent, { middleware: chat(`${at}`, log) })))

    expect(logs.map(entered)).toEqual([['0'], ['1'], ['2']])
  })

  it('an agent’s list is read anew: middlewares added, replaced, reordered and cleared take effect', async () => {
    const log: string[] = []
    const [a, b] = [chat('a', log), chat('b', log)]
    const list: Middleware[] = [a]
    const agent = new Agent({ client: scriptedClient(() => 'Done.'), middleware: list })
    const runOnce = async (): Promise<string[]> => {
      log.length = 0
      await runIn(mode, agent)
      return entered(log)
    }

    const seen = [await runOnce()]
    list.push(b)
    seen.push(await runOnce())
    list.reverse()
    seen.push(await runOnce())
    agent.middleware = chat('c', log)
    seen.push(await runOnce())
    agent.middleware = []
    seen.push(await runOnce())

    expect(seen).toEqual([['a'], ['a', 'b'], ['b', 'a'], ['c'], []])
  })

  it('so are lists inside of lists, and a client’s; a middleware in two places runs in both', async () => {
    const log: string[] = []
    const [a, b] = [chat('a', log), chat('b', log)]
    const inner: Middleware[] = [b]
    const client = scriptedClient(() => 'Done.', { middleware: [a] })
    const ofClient = client.middleware as Middleware[]
    const agent = new Agent({ client, middleware: [[inner], []] })
    const runOnce = async (): Promise<string[]> => {
      log.length = 0
      await runIn(mode, agent)
      return entered(log)
    }

    const seen = [await runOnce(), await runOnce()]
    inner.push(a)
    seen.push(await runOnce())
    ofClient.pop()
    seen.push(await runOnce())
    inner.reverse()
    seen.push(await runOnce())
    inner.length = 0
    seen.push(await runOnce())

    expect(seen).toEqual([['a', 'b'], ['a', 'b'], ['a', 'b', 'a'], ['b', 'a'], ['a', 'b'], []])
  })

  it('an agent shows the settings that it was given', () => {
    const functionInvocation = { maxIterations: 3 }
    const options = { client: scriptedClient([]), functionInvocation, options: { topP: 1 } }

    expect(new Agent(options)).toMatchObject(options)
  })

  it('an agent that is frozen runs', async () => {
    const log: string[] = []
    const client = scriptedClient(() => 'Done.')
    const agent = Object.freeze(new Agent({ client, middleware: chat('a', log) }))

    await runIn(mode, agent)
    await runIn(mode, agent, { middleware: chat('b', log) })

    expect(entered(log)).toEqual(['a', 'a', 'b'])
  })

  it('one client serves agents that do not see each other’s middlewares', async () => {
    const log: string[] = []
    const client = scriptedClient(() => 'Done.', { middleware: chat('client', log) })
    const first = new Agent({ client, middleware: chat('first', log) })
    const second = new Agent({ client, middleware: chat('second', log) })

    await runIn(mode, first)
    await runIn(mode, second)
    await respondIn(mode, client)

    expect(entered(log)).toEqual(['client', 'first', 'client', 'second', 'client'])
  })

  it('middlewares stay on this side: a provider is sent none of them', async () => {
    const client = scriptedClient(['Done.'], { middleware: chat('client', []) })

    await runIn(mode, new Agent({ client }), { middleware: chat('run', []) })

    expect(client.requests[0]!.options).toEqual({})
  })
})

describe.each(runModes)('a client without an agent, %s', (mode) => {
  it('runs its chat middlewares in list order', async () => {
    const log: string[] = []
    const client = scriptedClient(['Done.'], { middleware: [chat('a', log), [chat('b', log)]] })

    const { text } = await respondIn(mode, client)

    expect(text).toBe('Done.')
    expect(log).toEqual(['a in', 'b in', 'b out', 'a out'])
  })

  it('returns tool calls as they are, and runs no function middleware', async () => {
    const log: string[] = []
    const client = scriptedClient([callFunction('look', { at: 1 })], {
      middleware: traced('function', 'f', log) as FunctionMiddleware,
    })

    const { functionCalls, finishReason } = await respondIn(mode, client, { tools: [look] })

    expect(functionCalls).toMatchObject([{ name: 'look', arguments: '{"at":1}' }])
    expect([finishReason, log]).toEqual(['tool-calls', []])
  })

  it('a client with more middlewares has them outside those it had, and the first one stays as it was', async () => {
    const log: string[] = []
    const client = scriptedClient(() => 'Done.', { middleware: chat('had', log) })
    const wrapped = withMiddleware(client, chat('more', log), [chat('and more', log)])

    await respondIn(mode, wrapped)
    const withMore = entered(log.splice(0))
    await respondIn(mode, client)

    expect(withMore).toEqual(['more', 'and more', 'had'])
    expect(entered(log)).toEqual(['had'])
  })

  it('a client with more middlewares tells an agent of all of them', async () => {
    const log: string[] = []
    const client = scriptedClient([callFunction('look'), 'Done.'], { middleware: chat('had', log) })
    const more = [chat('more', log), traced('function', 'f', log) as FunctionMiddleware]

    await runIn(mode, new Agent({ client: withMiddleware(client, more), tools: [look] }))

    expect(entered(log)).toEqual(['more', 'had', 'f', 'more', 'had'])
  })

  it('a client with more middlewares is the same provider and model', () => {
    const wrapped = withMiddleware(scriptedClient([], { model: 'small' }))

    expect([wrapped.provider, wrapped.model]).toEqual(['scripted', 'small'])
    expect(wrapped.canContinue?.([])).toEqual({ ok: true, losses: [] })
    expect(wrapped.prepareHistory?.([])).toEqual([])
  })

  it('a client that a middleware puts in place brings its own middlewares', async () => {
    const log: string[] = []
    const other = scriptedClient(['From the other.'], {
      provider: 'other',
      middleware: chat('other', log),
    })
    const swapping = chatMiddleware('swapping', async (context, callNext) => {
      context.client = other
      await callNext()
      expect(context.client).toBe(other)
    })
    const first = scriptedClient([], { middleware: chat('first', log) })
    const agent = new Agent({ client: first, middleware: [swapping, chat('inner', log)] })

    const { text } = await runIn(mode, agent)

    expect(text).toBe('From the other.')
    expect(entered(log)).toEqual(['first', 'inner', 'other'])
    expect(first.requests).toEqual([])
  })

  it('what the middlewares of such a client restart, begins anew here too', async () => {
    const retry = chatMiddleware('retry', (_, callNext) => callNext().catch(() => callNext()))
    const other = scriptedClient([{ updates: ['wrong '], error: new Error('cut') }, 'right'], {
      middleware: retry,
    })
    const swapping = chatMiddleware('swapping', async (context, callNext) => {
      context.client = other
      await callNext()
    })

    const { text } = await runIn(
      mode,
      new Agent({ client: scriptedClient([]), middleware: swapping }),
    )

    expect(text).toBe('right')
  })
})

import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it, vi } from 'vitest'
import type { CallNext } from '../contract/run.ts'
import type { ChatContext, ChatMiddleware, ChatResponse } from '../index.ts'
import {
  Agent,
  LamellaError,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  tool,
  withMiddleware,
} from '../index.ts'
import { traced } from '../run/run.test-helper.ts'

const look = tool({
  name: 'look',
  description: 'Looks.',
  parameters: jsonSchema({ type: 'object' }),
  execute: () => 'found',
})

class Counter {
  readonly level = 'chat'
  readonly name = 'counter'
  calls = 0

  async process(_: ChatContext, callNext: CallNext<ChatResponse>): Promise<void> {
    this.calls++
    await callNext()
  }
}

describe.each(runModes)('what a list of middlewares takes, %s', (mode) => {
  it('a factory makes a middleware of its level and name', async () => {
    const log: string[] = []
    const process = async (_: unknown, callNext: () => Promise<unknown>): Promise<void> => {
      log.push('ran')
      await callNext()
    }
    const made = [
      agentMiddleware('a', process),
      chatMiddleware('c', process),
      functionMiddleware('f', process),
    ]
    const client = scriptedClient([callFunction('look'), 'Done.'])

    await runIn(mode, new Agent({ client, tools: [look], middleware: made }))

    expect(made.map(({ level, name }) => [level, name])).toEqual([
      ['agent', 'a'],
      ['chat', 'c'],
      ['function', 'f'],
    ])
    expect(log).toHaveLength(4)
  })

  it('an object of a class with level, name and process is as good, and keeps its `this`', async () => {
    const counter = new Counter()
    const agent = new Agent({ client: scriptedClient(['Done.']), middleware: [counter] })

    await runIn(mode, agent)

    expect(counter.calls).toBe(1)
  })

  it('objects and factories in one list nest in its order', async () => {
    const log: string[] = []
    const object: ChatMiddleware = {
      level: 'chat',
      name: 'object',
      async process(_, callNext) {
        log.push('object in')
        await callNext()
        log.push('object out')
      },
    }
    const middleware = [traced('chat', 'made', log), object]

    await runIn(mode, new Agent({ client: scriptedClient(['Done.']), middleware }))

    expect(log).toEqual(['made in', 'object in', 'object out', 'made out'])
  })

  it('a single middleware needs no list', async () => {
    const log: string[] = []
    const agent = new Agent({
      client: scriptedClient(['Done.']),
      middleware: traced('agent', 'only', log),
    })

    await runIn(mode, agent)

    expect(log).toEqual(['only in', 'only out'])
  })

  it('an empty list, a list of empty lists and none at all are the same', async () => {
    const client = scriptedClient(() => 'Done.')

    const texts = [
      (await runIn(mode, new Agent({ client }))).text,
      (await runIn(mode, new Agent({ client, middleware: [] }))).text,
      (await runIn(mode, new Agent({ client, middleware: [[], [[]]] }))).text,
    ]

    expect(texts).toEqual(['Done.', 'Done.', 'Done.'])
  })

  it('a list of mixed levels is taken apart, each level in list order', async () => {
    const log: string[] = []
    const client = scriptedClient([callFunction('look'), 'Done.'])
    const middleware = [
      traced('function', 'f', log),
      traced('chat', 'c', log),
      traced('agent', 'a', log),
    ]

    await runIn(mode, new Agent({ client, tools: [look], middleware }))

    expect(log).toEqual(['a in', 'c in', 'c out', 'f in', 'f out', 'c in', 'c out', 'a out'])
  })

  it('a nested list is a feature whose parts go to their levels', async () => {
    const log: string[] = []
    const feature = [traced('agent', 'feature a', log), [traced('chat', 'feature c', log)]]
    const middleware = [traced('chat', 'first', log), feature, traced('chat', 'last', log)]

    await runIn(mode, new Agent({ client: scriptedClient(['Done.']), middleware }))

    expect(log.filter((entry) => entry.endsWith('in'))).toEqual([
      'feature a in',
      'first in',
      'feature c in',
      'last in',
    ])
  })

  it('middlewares and errors of another copy of core are known', async () => {
    vi.resetModules()
    const other = await import('../index.ts')
    const log: string[] = []
    const middleware = other.chatMiddleware('other', async (_, callNext) => {
      await callNext()
      log.push('other')
      throw new other.MiddlewareTermination('enough', { result: 'ended' })
    })
    const agent = new Agent({ client: scriptedClient(['Done.']), middleware: middleware })

    const response = await runIn(mode, agent)

    expect(other.LamellaError).not.toBe(LamellaError)
    expect(log).toEqual(['other'])
    expect([response.status, response.text]).toEqual(['completed', 'ended'])
  })

  it('a guardrail of another copy of core blocks', async () => {
    vi.resetModules()
    const other = await import('../index.ts')
    const block = {
      guardrail: 'g',
      level: 'chat',
      stage: 'input',
      category: 'c',
      message: 'No.',
    } as const
    const agent = new Agent({
      client: scriptedClient([]),
      middleware: chatMiddleware('guardrail', () => {
        throw new other.GuardrailTripped(block)
      }),
    })

    const response = await runIn(mode, agent)

    expect([response.status, response.text, response.block]).toEqual(['blocked', 'No.', block])
  })
})

const noop = (): void => {}
const wrong: readonly (readonly [string, unknown, RegExp])[] = [
  ['a string, which is one entry and no list of characters', 'log', /got "log"/],
  ['undefined, as a factory gives that forgets to return', [undefined], /got undefined/],
  ['a number', 7, /got 7/],
  ['null', null, /got null/],
  ['a bare function', noop, /got a function \(wrap it with agentMiddleware/],
  ['an object without process', { level: 'chat', name: 'c' }, /got an object with level, name/],
  [
    'an object without a name',
    { level: 'chat', process: noop },
    /got an object with level, process/,
  ],
  ['an unknown level', { level: 'model', name: 'm', process: noop }, /"m" .* level "model"/],
  ['no level', { name: 'm', process: noop }, /"m" .* level undefined/],
]

describe('what a list of middlewares refuses', () => {
  it.each(wrong)('%s throws when an agent is made, naming it', (_, entry, message) => {
    const client = scriptedClient([])

    expect(() => new Agent({ client, middleware: [entry] as never })).toThrow(TypeError)
    expect(() => new Agent({ client, middleware: [[[entry]]] as never })).toThrow(message)
    expect(() => new Agent({ client, middleware: entry as never })).toThrow(message)
  })

  it.each(wrong)('%s throws when a client is made, naming it', (_, entry, message) => {
    const middleware = [entry] as never

    expect(() => scriptedClient([], { middleware })).toThrow(message)
    expect(() => withMiddleware(scriptedClient([]), entry as never)).toThrow(message)
  })

  it.each(wrong)('%s in a run throws before anything is called', (_, entry, message) => {
    const client = scriptedClient([])
    const agent = new Agent({ client })
    const middleware = [entry] as never

    expect(() => void agent.run('Hello', { middleware })).toThrow(message)
    expect(() => agent.run('Hello', { middleware, stream: true })).toThrow(message)
    expect(client.requests).toEqual([])
  })

  it('an agent middleware in a client throws, naming it and what can be there', () => {
    const middleware = [agentMiddleware('audit', noop)] as never

    expect(() => scriptedClient([], { middleware })).toThrow(
      /"audit" is of level agent, which does not run here \(only chat, function\)/,
    )
  })

  it('a feature with one part that cannot run in a client is refused as a whole', () => {
    const feature = [chatMiddleware('part', noop), agentMiddleware('whole', noop)] as never

    expect(() => scriptedClient([], { middleware: [feature] })).toThrow(/"whole"/)
  })

  it('a list that was mended after the agent was made is checked again by the run', () => {
    const agent = new Agent({ client: scriptedClient([]) })
    agent.middleware = ['log'] as never

    expect(() => void agent.run('Hello')).toThrow(/got "log"/)
  })
})

describe('disposing of an agent', () => {
  const pooled = (
    name: string,
    log: string[],
    error?: Error,
  ): ChatMiddleware & AsyncDisposable => ({
    level: 'chat',
    name,
    process: (_, callNext) => callNext().then(() => {}),
    [Symbol.asyncDispose]: async () => {
      log.push(name)
      if (error !== undefined) throw error
    },
  })
  const broken = new Error('broken')
  const stuck = new Error('stuck')

  it.each([
    ['throws what a middleware has thrown', [undefined, broken], broken],
    [
      'throws all that middlewares have thrown',
      [stuck, broken],
      new AggregateError([broken, stuck], '2 middleware failed to dispose'),
    ],
  ] as const)('%s, and disposes of the others', async (_, errors, expected) => {
    const log: string[] = []
    const middleware = [
      pooled('outer', log, errors[0]),
      pooled('between', log),
      pooled('inner', log, errors[1]),
    ]
    const agent = new Agent({ client: scriptedClient([]), middleware })

    await expect(agent[Symbol.asyncDispose]()).rejects.toEqual(expected)

    expect(log).toEqual(['inner', 'between', 'outer'])
  })
})

import { runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type {
  ChatOptions,
  FunctionInvocationConfiguration,
  GetResponseOptions,
  MessageInput,
  RunOptions,
} from '../index.ts'
import { Agent, chatMiddleware, tool, withFunctionInvocation } from '../index.ts'

const client = scriptedClient(() => 'Done.')

describe('options that nobody reads', () => {
  it.each<[string, object, RegExp]>([
    [
      'a misspelt name',
      { middlewares: [] },
      /^agent: unknown option `middlewares`; did you mean `middleware`/,
    ],
    ['an option of the model call', { model: 'large' }, /^agent: .*`\{ options: \{ model \} \}`/],
  ])('new Agent refuses %s', (_, options, message) => {
    expect(() => new Agent({ client, ...options })).toThrow(message)
  })

  it.each<[string, object, string]>([
    ['no client', { client: undefined }, '`client` must be a chat client'],
    ['a client that cannot stream', { client: { respond() {} } }, '`client` must be a chat client'],
    ['a client that only streams', { client: { stream() {} } }, '`client` must be a chat client'],
    [
      'another `onBlock`',
      { onBlock: 'ignore' },
      '`onBlock` must be one of return, throw, got "ignore"',
    ],
    ['a time limit that is no number', { storeTimeoutMs: '5' }, '`storeTimeoutMs` must be more'],
    ['a time limit of nothing', { storeTimeoutMs: 0 }, '`storeTimeoutMs` must be more'],
    ['a number that is none', { storeTimeoutMs: Number.NaN }, '`storeTimeoutMs` must be more'],
    [
      'one tool',
      { tools: tool({ name: 'a', description: '' }) },
      '`tools` must be a list of tools',
    ],
  ])('new Agent refuses %s', (_, options, message) => {
    expect(() => new Agent({ client, ...options })).toThrow(`agent: ${message}`)
  })

  it.each<[string, object, RegExp]>([
    ['a misspelt name', { middlewares: [] }, /^run: unknown option `middlewares`/],
    [
      'an option of the model call',
      { temperature: 0 },
      /^run: .*`\{ options: \{ temperature \} \}`/,
    ],
  ])('run refuses %s', (_, options, message) => {
    expect(() =>
      new Agent({ client }).run('Hi', options as RunOptions & { stream?: false }),
    ).toThrow(message)
  })

  it.each<[object, string]>([
    [{ sessionWaitMs: -1 }, '`sessionWaitMs` must be 0 or more milliseconds, got -1'],
    [{ sessionWaitMs: Number.NaN }, '`sessionWaitMs` must be 0 or more milliseconds, got NaN'],
    [{ onBlock: 'ignore' }, '`onBlock` must be one of return, throw, got "ignore"'],
    [{ keep: {} }, '`keep` must be one of effects, all, nothing, got an object'],
    [{ stream: 'yes' }, '`stream` must be true or false, got "yes"'],
  ])('run refuses %o', (options, message) => {
    expect(() => new Agent({ client }).run('Hi', options)).toThrow(`run: ${message}`)
  })

  it('waits for a session may be of any length', async () => {
    for (const sessionWaitMs of [0, 2 ** 40, Infinity]) {
      const agent = new Agent({ client, storeTimeoutMs: sessionWaitMs || 1 })
      const session = agent.createSession()

      const responses = await Promise.all(runModes.map((mode) => runIn(mode, agent, { session })))

      expect(responses.map(({ status }) => status)).toEqual(runModes.map(() => 'completed'))
      await expect(agent.run('Hi', { session, sessionWaitMs })).resolves.toBeDefined()
    }
  })

  it.each([5, 'x', ['a'], null])('options that are no object are refused: %o', async (given) => {
    const options = given as never
    const message = / must be an object, got /

    expect(() => new Agent(options)).toThrow(message)
    expect(() => new Agent({ client }).run('Hi', options)).toThrow(message)
    expect(() => new Agent({ client, functionInvocation: options })).toThrow(message)
    for (const mode of runModes) {
      await expect(runIn(mode, new Agent({ client, options }))).rejects.toThrow(message)
      await expect(runIn(mode, new Agent({ client }), { options })).rejects.toThrow(message)
    }
  })

  it('settings of the tool loop cannot have a misspelt name', () => {
    const functionInvocation = { maxConsecutiveErrors: 1 } as FunctionInvocationConfiguration
    const message =
      /^functionInvocation: unknown option `maxConsecutiveErrors`; did you mean `maxConsecutiveErrorsPerRequest`/

    expect(() => new Agent({ client, functionInvocation })).toThrow(message)
    expect(() => withFunctionInvocation(client, functionInvocation)).toThrow(message)
    expect(() => new Agent({ client }).run('Hi', { functionInvocation })).toThrow(message)
  })

  it.each<[string, unknown, string]>([
    ['a function', () => 'Be kind.', 'a function'],
    ['a number', 1, '1'],
    ['null', null, 'null'],
  ])('instructions cannot be %s', async (_, given, type) => {
    const instructions = given as string
    const message = new RegExp(`\`instructions\` must be a string, got ${type}$`)

    expect(() => new Agent({ client, instructions })).toThrow(message)
    for (const mode of runModes) {
      await expect(runIn(mode, new Agent({ client }), { instructions })).rejects.toThrow(message)
      const sets = chatMiddleware('sets', (context, callNext) => {
        context.instructions = instructions
        return callNext()
      })
      await expect(runIn(mode, new Agent({ client, middleware: sets }))).rejects.toThrow(message)
    }
    await expect(client.getResponse('Hi', { instructions })).rejects.toThrow(message)
  })

  it.each<[string, unknown, string]>([
    ['another word', 'always', '"always"'],
    ['another mode', { mode: 'auto' }, 'an object'],
    ['no name of a tool', { mode: 'required' }, 'an object'],
    ['an async function', async () => 'required', 'a promise'],
    ['a function that returns a number', () => 1, '1'],
  ])('toolChoice cannot be %s', async (_, given, type) => {
    const toolChoice = given as ChatOptions['toolChoice']
    const message = new RegExp(`^\`toolChoice\` must be .*, got ${type}$`)
    const agent = new Agent({ client, options: { toolChoice } })

    for (const mode of runModes) await expect(runIn(mode, agent)).rejects.toThrow(message)
    await expect(client.getResponse('Hi', { toolChoice })).rejects.toThrow(message)
  })

  it('getResponse says where the options of an agent belong', () => {
    for (const name of ['options', 'middleware', 'session']) {
      expect(() =>
        client.getResponse('Hi', { [name]: {} } as GetResponseOptions & { stream?: false }),
      ).toThrow(new RegExp(`^getResponse: unknown option \`${name}\``))
    }
  })

  it('tool refuses a misspelt name', () => {
    const options = { name: 'a', description: 'b', paramters: {} }

    expect(() => tool(options)).toThrow(
      /^tool: unknown option `paramters`; did you mean `parameters`/,
    )
  })

  it('an agent can be made from another one, and a tool from another one', () => {
    const made = tool({ name: 'a', description: 'b' })
    const agent = new Agent({ client, name: 'first' })

    expect(tool({ ...made, name: 'c' } as never).name).toBe('c')
    expect(new Agent(agent).name).toBe('first')
  })

  it.each<[string, unknown]>([
    ['role and content', [{ role: 'user', content: 'Hi' }]],
    ['a prompt', { prompt: 'Hi' }],
    ['messages', { messages: [] }],
  ])('an input with %s is refused with the right shape', (_, input) => {
    expect(() => new Agent({ client }).run(input as MessageInput)).toThrow(
      /got an object with .*\{ role: 'user', contents: 'Hello' \}/,
    )
  })

  it('a function is refused as a tool, and what is no store as a store', async () => {
    const withFunction = new Agent({ client, tools: [(() => 'found') as never] })

    await expect(withFunction.run('Hi')).rejects.toThrow(
      'the tool without a name is a function; pass',
    )
    expect(() => new Agent({ client, store: 'redis' as never })).toThrow(
      '`store` must be a store, such as `memoryStore()`, got "redis"',
    )
  })

  it('a tool that tool() has not made is refused with the right shape', async () => {
    const plain = { name: 'search', description: 'Searches.', execute: () => 'found' } as never
    const message = 'the tool search is an object; pass tool({ name, description, parameters'

    await expect(new Agent({ client, tools: [plain] }).run('Hi')).rejects.toThrow(message)
    await expect(new Agent({ client }).run('Hi', { tools: [plain] })).rejects.toThrow(message)
  })
})

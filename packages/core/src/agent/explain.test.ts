import { scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  createSession,
  explain,
  functionMiddleware,
  message,
  tool,
} from '../index.ts'

const noop = <Result>(_: unknown, callNext: () => Promise<Result>): Promise<Result> => callNext()

describe('explain', () => {
  const client = scriptedClient([], {
    model: 'small',
    middleware: [chatMiddleware('client chat', noop), functionMiddleware('client tool', noop)],
  })
  const look = tool({ name: 'look', description: '', execute: () => '' })
  const more = tool({ name: 'more', description: '', execute: () => '' })
  const agent = new Agent({
    client,
    tools: [look],
    middleware: [
      agentMiddleware('audit', noop),
      [chatMiddleware('cache', noop), functionMiddleware('policy', noop)],
    ],
    functionInvocation: { maxIterations: 7 },
  })

  it('names the middlewares of all scopes, outermost first, and what lies inside them', () => {
    const session = createSession({ messages: [message('user', 'a'), message('assistant', 'b')] })

    const explanation = explain(agent, 'Hi', {
      session,
      tools: [more],
      middleware: [chatMiddleware('run chat', noop), agentMiddleware('run agent', noop)],
      options: { model: 'large' },
      functionInvocation: { maxFunctionCalls: 3 },
    })

    expect(explanation).toMatchObject({
      agent: ['audit', 'run agent'],
      chat: ['client chat', 'cache', 'run chat'],
      function: ['client tool', 'policy'],
      provider: 'scripted',
      model: 'large',
      tools: ['look', 'more'],
      messages: { input: 1, history: 2 },
      settings: { maxIterations: 7, maxFunctionCalls: 3, maxConsecutiveErrorsPerRequest: 3 },
    })
  })

  it.each([
    ['nothing', undefined, 'undefined'],
    ['its options', { name: 'helper', client }, 'an object'],
    ['a client', client, 'an object'],
    ['the input first', 'My secret', 'a string'],
  ])('names its argument when given %s', (_, given, shown) => {
    const problem = `explain: \`info\` must be an agent, got ${shown}`
    expect(() => explain(given as never, 'Hi')).toThrow(new TypeError(problem))
  })

  it('prints as an onion', () => {
    expect(String(explain(agent, 'Hi'))).toBe(
      [
        'run         audit → loop',
        'model call  client chat → cache → scripted small',
        'tool call   client tool → policy → look',
        'messages    0 of history, 1 of input',
        'limits      7 model calls, any number of tool calls',
      ].join('\n'),
    )
  })

  it('prints the limit of tool calls', () => {
    const explanation = explain(agent, 'Hi', { functionInvocation: { maxFunctionCalls: 3 } })

    expect(String(explanation)).toContain('limits      7 model calls, 3 tool calls')
  })

  it('leaves out probes, also where they repeat a name', () => {
    const probe = { ...chatMiddleware('probe', noop), role: 'probe' }
    const probed = new Agent({ name: 'helper', client, middleware: [probe, probe] })

    const { name, chat, warnings } = explain(probed, 'Hi')

    expect([name, chat, warnings]).toEqual(['helper', ['client chat'], []])
  })

  it('calls nothing', () => {
    explain(agent, 'Hi')

    expect(client.requests).toEqual([])
  })

  it('knows an agent without anything', () => {
    expect(String(explain(new Agent({ client: scriptedClient([]) }), []))).toContain('(no tools)')
  })
})

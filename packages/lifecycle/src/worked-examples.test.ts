import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '@lamella/core/authoring'
import {
  Agent,
  MiddlewareTermination,
  agentMiddleware,
  chatMiddleware,
  defineEvent,
  defineState,
  functionMiddleware,
  jsonSchema,
  message,
  tool,
} from '@lamella/core'
import { lifecycle } from './index.ts'

const search = tool({
  name: 'search',
  description: '',
  parameters: jsonSchema({ type: 'object', properties: { query: { type: 'string' } } }),
  readOnly: true,
  execute: ({ query }) => `found ${String(query)}`,
})
const remove = tool({ name: 'remove', description: '', execute: () => 'removed' })

describe.each(runModes)('what other systems show as examples, %s', (mode) => {
  it('memory: what is known goes into the conversation before the model sees it, once', async () => {
    const client = scriptedClient([callFunction('search', { query: 'x' }), 'Tea, then.'])
    const memory = lifecycle({
      name: 'memory',
      beforeTurn(context) {
        context.messages = [message('system', 'The user likes tea.'), ...context.messages]
      },
    })
    const agent = new Agent({ client, tools: [search], middleware: memory })

    await runIn(mode, agent)

    for (const { messages } of client.requests) {
      expect(messages.filter(({ role }) => role === 'system')).toHaveLength(1)
    }
  })

  it('batch approval: one question for all calls of a batch, which each call then reads', async () => {
    const allowed = defineState({ name: 'allowed', initial: (): readonly string[] => [] })
    const asked: unknown[] = []
    const approve = lifecycle({
      name: 'approve',
      async beforeParallelBatch({ run, calls }) {
        const names = calls.map(({ name }) => name)
        const answer = await run.request<string[]>({ type: 'approve', data: names })
        run.state.update(allowed, () => answer)
      },
      beforeFunction(context) {
        const { name } = context.function
        context.blockExecution = !context.run.state.get(allowed).includes(name)
        context.overrideResult = `${name} was not approved.`
      },
    })
    const client = scriptedClient([[callFunction('search'), callFunction('remove')], 'Done.'])
    const agent = new Agent({ client, tools: [search, remove], middleware: approve })

    await runIn(mode, agent, {
      onRequest(event) {
        asked.push(event.data)
        return ['search']
      },
    })

    expect(asked).toEqual([['search', 'remove']])
    const results = JSON.stringify(client.requests[1]?.messages.at(-1))
    expect(results).toContain('found')
    expect(results).toContain('remove was not approved.')
    expect(results).not.toContain('"removed"')
  })

  it('error counter: too many failures in a row end the run, before another model call', async () => {
    const failures = defineState({ name: 'failures', initial: () => 0 })
    const broken = tool({
      name: 'broken',
      description: '',
      execute: () => {
        throw new Error('broken')
      },
    })
    const counter = lifecycle({
      name: 'error-counter',
      afterIteration: ({ run, toolResults }) =>
        void run.state.update(failures, (count) =>
          toolResults.some(({ error }) => error) ? count + 1 : 0,
        ),
      beforeIteration({ run }) {
        if (run.state.get(failures) >= 2)
          run.stop('2 rounds with errors', { response: 'I give up.' })
      },
    })
    const client = scriptedClient([callFunction('broken'), callFunction('broken')])

    const response = await runIn(mode, new Agent({ client, tools: [broken], middleware: counter }))

    expect(response).toMatchObject({ status: 'terminated', text: 'I give up.' })
    expect(client.requests).toHaveLength(2)
  })

  it('circuit breaker: the third identical call in a row runs nothing and ends the run', async () => {
    const repeats = defineState({ name: 'repeats', initial: () => ({ call: '', times: 0 }) })
    const breaker = lifecycle({
      name: 'circuit-breaker',
      beforeToolExecution(context) {
        for (const { name, arguments: args } of context.calls) {
          const call = `${name} ${canonicalJson(JSON.parse(args))}`
          const { times } = context.run.state.update(repeats, (last) => ({
            call,
            times: last.call === call ? last.times + 1 : 1,
          }))
          if (times < 3) continue
          context.skipToolExecution = true
          context.run.stop('the same call three times', { response: `${name} goes in circles.` })
        }
      },
    })
    let ran = 0
    const again = tool({ name: 'again', description: '', execute: () => void ran++ })
    const client = scriptedClient([
      callFunction('again', { a: 1, b: 2 }),
      callFunction('again', '{"b":2,"a":1}'),
      callFunction('again', { a: 1, b: 2 }),
    ])

    const response = await runIn(mode, new Agent({ client, tools: [again], middleware: breaker }))

    expect(response).toMatchObject({ status: 'terminated', text: 'again goes in circles.' })
    expect(ran).toBe(2)
  })

  it('permission: asked for by an event, remembered for the session, and no when nobody answers', async () => {
    const permission = defineEvent<{ tool: string }, boolean>({ type: 'permission', timeoutMs: 1 })
    const known = defineState<Record<string, boolean>>({
      name: 'permissions',
      initial: () => ({}),
      schema: jsonSchema({ type: 'object' }),
      scope: 'session',
    })
    const permit = functionMiddleware('permission', async (context, callNext) => {
      const { run, function: called } = context
      const before = run.state.get(known)[called.name]
      const allowed =
        before ?? (await run.request(permission({ tool: called.name })).catch(() => false))
      run.state.update(known, (all) => ({ ...all, [called.name]: allowed }))
      if (allowed) await callNext()
      else context.result = 'Permission denied.'
    })
    const client = scriptedClient([
      callFunction('search'),
      'One.',
      callFunction('search'),
      'Two.',
      callFunction('remove'),
      'Three.',
    ])
    const agent = new Agent({ client, tools: [search, remove], middleware: permit })
    const session = agent.createSession()
    const asked: unknown[] = []
    const onRequest = (event: { readonly data?: unknown }): boolean => {
      asked.push(event.data)
      return true
    }

    await runIn(mode, agent, { session, onRequest })
    await runIn(mode, agent, { session, onRequest })
    await runIn(mode, agent, { session, onRequest: () => undefined })

    expect(asked).toEqual([{ tool: 'search' }])
    expect(session.state).toEqual({ permissions: { search: true, remove: false } })
    expect(JSON.stringify(client.requests[5]?.messages.at(-1))).toContain('Permission denied.')
  })

  it('a middleware that caches tool calls, and one that blocks them', async () => {
    const cached = new Map<string, unknown>()
    let ran = 0
    const counted = tool({ name: 'search', description: '', execute: () => `result ${++ran}` })
    const cache = functionMiddleware('cache', async (context, callNext) => {
      const key = canonicalJson([context.function.name, context.arguments])
      if (cached.has(key)) context.result = cached.get(key)
      else cached.set(key, await callNext())
    })
    const noRemoving = functionMiddleware('no-removing', async (context, callNext) => {
      if (context.function.name === 'remove') context.result = 'Removing is off.'
      else await callNext()
    })
    const client = scriptedClient([
      callFunction('search', { query: 'a' }),
      callFunction('search', { query: 'a' }),
      callFunction('remove'),
      'Done.',
    ])
    const middleware = [noRemoving, cache]

    await runIn(mode, new Agent({ client, tools: [counted, remove], middleware }))

    expect(ran).toBe(1)
    const results = client.requests.slice(1).map(({ messages }) => JSON.stringify(messages.at(-1)))
    expect(results[1]).toContain('result 1')
    expect(results[2]).toContain('Removing is off.')
  })

  it.each<[string, 'return' | 'throw', string[]]>([
    ['a result and no callNext()', 'return', ['outer after', 'outer finally']],
    ['a termination', 'throw', ['outer finally']],
  ])('%s: what runs of the middlewares further out', async (_, way, expected) => {
    const log: string[] = []
    const outer = agentMiddleware('outer', async (_context, callNext) => {
      try {
        await callNext()
        log.push('outer after')
      } finally {
        log.push('outer finally')
      }
    })
    const inner = agentMiddleware('inner', (context) => {
      if (way === 'throw') throw new MiddlewareTermination('enough', { result: 'Enough.' })
      context.result = 'Enough.'
    })
    const never = chatMiddleware('never', () => {
      throw new Error('this is further inside')
    })
    const agent = new Agent({ client: scriptedClient([]), middleware: [outer, inner, never] })

    const { text, status } = await runIn(mode, agent)

    expect([text, status]).toEqual(['Enough.', way === 'throw' ? 'terminated' : 'completed'])
    expect(log).toEqual(expected)
  })
})

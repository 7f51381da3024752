import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { errorType, eventFacts, exitOf, observeMiddleware, usageSince } from '../authoring.ts'
import {
  Agent,
  agentMiddleware,
  agentTool,
  BudgetExhausted,
  chatMiddleware,
  functionMiddleware,
  GuardrailTripped,
  LamellaError,
  MiddlewareTermination,
  ProviderError,
  tool,
} from '../index.ts'

const block = {
  guardrail: 'g',
  level: 'agent',
  stage: 'input',
  category: 'c',
  message: '',
} as const

describe('how a call left a middleware', () => {
  it('is told by the error', () => {
    const aborted = AbortSignal.abort()
    expect(exitOf(new GuardrailTripped(block))).toBe('blocked')
    expect(exitOf(new BudgetExhausted('tokens', 3))).toBe('budget_exhausted')
    expect(exitOf(new MiddlewareTermination())).toBe('terminated')
    expect(exitOf(new LamellaError('', { code: 'aborted' }))).toBe('aborted')
    expect(exitOf(new DOMException('', 'AbortError'))).toBe('aborted')
    expect(exitOf(new Error('of the caller'), aborted)).toBe('aborted')
    expect(exitOf(new GuardrailTripped(block), aborted)).toBe('blocked')
    expect(exitOf('broken')).toBe('failed')
  })

  it('is a pause where a middleware inside asked something', async () => {
    const exits: string[] = []
    const watch = agentMiddleware('watch', async (_, callNext) => {
      await callNext().catch((error: unknown) => {
        exits.push(exitOf(error))
        throw error
      })
    })
    const ask = agentMiddleware('ask', ({ run }) => run.interrupt('?'))

    await new Agent({ client: scriptedClient([]), middleware: [watch, ask] }).run('Hi')

    expect(exits).toEqual(['paused'])
  })
})

describe('what answered', () => {
  it('is told for a model call: the provider, or nobody where a middleware did', async () => {
    const seen: (string | undefined)[] = []
    const watch = chatMiddleware('watch', async ({ run }, callNext) => {
      seen.push(run.servedBy)
      await callNext()
      seen.push(run.servedBy)
    })
    const second = chatMiddleware('second', async (context, callNext) => {
      if (context.iteration === 1) context.result = 'From a middleware.'
      else await callNext()
    })
    const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
    const client = scriptedClient([callFunction('look')])

    await new Agent({ client, tools: [look], middleware: [watch, second] }).run('Hi')

    expect(seen).toEqual([undefined, 'scripted', undefined, undefined])
  })

  it('is told for a tool call: the tool, or a middleware in its place', async () => {
    const seen: boolean[] = []
    const watch = functionMiddleware('watch', async (context, callNext) => {
      await callNext()
      seen.push(context.executed)
    })
    const deny = functionMiddleware('deny', async (context, callNext) => {
      if (context.callId === 'no') context.result = 'denied'
      else await callNext()
    })
    const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
    const calls = [callFunction('look', {}, 'yes'), callFunction('look', {}, 'no')]
    const client = scriptedClient([calls, 'Done.'])

    await new Agent({ client, tools: [look], middleware: [watch, deny] }).run('Hi')

    expect(seen).toHaveLength(2)
    expect(new Set(seen)).toEqual(new Set([true, false]))
  })
})

it('the facts of an event are its plain values, and nothing that could be a text', () => {
  const data = {
    status: 'hit',
    long: 'x'.repeat(201),
    usage: { inputTokens: 3, deeper: { still: 1 } },
    list: [1],
    nothing: null,
    ratio: Number.NaN,
    ok: true,
  }

  expect(eventFacts(data)).toEqual({ status: 'hit', 'usage.inputTokens': 3, ok: true })
  expect(eventFacts('text')).toEqual({})
  expect(eventFacts(JSON.parse('{"__proto__":{"a":1},"b":2}'))).toEqual({ b: 2 })
})

it('the type of an error is a name, and never its message', () => {
  const busy = new ProviderError('said x', { kind: 'overloaded', provider: 'p' })

  expect(errorType(busy)).toBe('overloaded')
  expect(errorType(new LamellaError('said x', { code: 'run_failed' }))).toBe('run_failed')
  expect(errorType(new RangeError('said x'))).toBe('RangeError')
  expect(errorType(Object.assign(new Error(''), { name: 'what the user said' }))).toBe('_OTHER')
  expect([undefined, null, 'text', { name: 7 }].map(errorType)).toEqual(Array(4).fill('_OTHER'))
})

it('usage since a count is the difference, without what stands still', () => {
  const before = { inputTokens: 5, outputTokens: 2 }
  const now = { inputTokens: 8, outputTokens: 2, reasoningTokens: 1 }

  expect(usageSince(now, before)).toEqual({ inputTokens: 3, reasoningTokens: 1 })
  expect(usageSince({}, {})).toEqual({})
})

it('an event of a sub-agent is told once to who observes both runs', async () => {
  const told: string[] = []
  const watch = (observer: string) =>
    agentMiddleware(observer, async ({ run }, callNext) => {
      observeMiddleware(run, observer, ['cache'], (type) =>
        told.push(`${observer}: ${type} in ${run.agentName ?? ''}`),
      )
      await callNext()
    })
  const caching = chatMiddleware('caching', async ({ run }, callNext) => {
    run.emit({ type: 'cache', data: { outcome: 'hit' } })
    run.emit({ type: 'other', data: {} })
    await callNext()
  })
  const inside = new Agent({
    name: 'inside',
    client: scriptedClient(['Found.']),
    middleware: [watch('one'), caching],
  })
  const client = scriptedClient([callFunction('inside', { task: 'Find.' }), 'Done.'])
  const middleware = [watch('one'), watch('two')]

  await new Agent({ name: 'outside', client, tools: [agentTool(inside)], middleware }).run('Hi')

  expect(told).toEqual(['one: cache in inside', 'two: cache in outside'])
})

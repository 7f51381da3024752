import { Agent, agentMiddleware, chatMiddleware, functionMiddleware, tool } from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import {
  callFunction,
  describeContract,
  middlewareContract,
  runIn,
  runModes,
  scriptedClient,
} from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { record } from './telemetry.test-helper.ts'
import { traced } from './traced.ts'
import { tracing } from './tracing.ts'

const pass = <Result>(_: unknown, callNext: () => Promise<Result>) => callNext()

describe.each(runModes)('spans of middlewares, %s', (mode) => {
  it('nest as the middlewares do, at every level', async () => {
    const recorded = record()
    const middlewares = traced(
      [
        agentMiddleware('a', pass),
        chatMiddleware('c1', pass),
        [chatMiddleware('c2', pass), functionMiddleware('f', pass)],
      ],
      { tracer: recorded.options.tracer },
    )
    const look = tool({ name: 'look', description: '', execute: () => 'seen' })
    const client = scriptedClient([callFunction('look'), 'Done.'])
    const middleware = [tracing(recorded.options), middlewares]

    await runIn(mode, new Agent({ client, tools: [look], middleware }))

    expect(await recorded.tree()).toEqual([
      'invoke_agent',
      'invoke_agent > middleware a',
      'invoke_agent > middleware a > chat',
      'invoke_agent > middleware a > chat > middleware c1',
      'invoke_agent > middleware a > chat > middleware c1 > middleware c2',
      'invoke_agent > middleware a > execute_tool look',
      'invoke_agent > middleware a > execute_tool look > middleware f',
      'invoke_agent > middleware a > chat',
      'invoke_agent > middleware a > chat > middleware c1',
      'invoke_agent > middleware a > chat > middleware c1 > middleware c2',
    ])
  })

  it('say how the middleware ended and how often it called its inside', async () => {
    const recorded = record()
    const middlewares = [
      chatMiddleware('twice', async (_, callNext) => {
        await callNext()
        await callNext()
      }),
      {
        ...chatMiddleware('cache', async (context) => void (context.result = 'Kept.')),
        role: 'cache',
      },
    ]
    const { tracer } = recorded.options
    const middleware = [tracing(recorded.options), traced(middlewares, { tracer })]

    await runIn(mode, new Agent({ client: scriptedClient([]), middleware }))

    const spans = (await recorded.spans()).filter(({ name }) => name.startsWith('middleware'))
    expect(
      spans.map(({ name, attributes }) => [
        name,
        attributes['lamella.middleware.calls'],
        attributes['lamella.short_circuit'] ?? false,
        attributes['lamella.middleware.role'] ?? 'none',
      ]),
    ).toEqual([
      ['middleware twice', 2, false, 'none'],
      ['middleware cache', 0, true, 'cache'],
      ['middleware cache', 0, true, 'cache'],
    ])
  })

  it('say why a middleware stopped the run', async () => {
    const recorded = record()
    const judge = guardrail({
      name: 'g',
      applyTo: ['input'],
      check: () => ({ action: 'block' }),
    })
    const { tracer } = recorded.options
    const middleware = [tracing(recorded.options), traced(judge, { tracer })]

    await runIn(mode, new Agent({ client: scriptedClient([]), middleware }))

    const { attributes, events } = await recorded.span('middleware g')
    expect(attributes['lamella.status']).toBe('blocked')
    expect(events.map(({ name }) => name)).toEqual(['lamella.guardrail'])
  })
})

it('a middleware keeps its own fields, and its place in the order', () => {
  class Counting {
    readonly level = 'chat'
    readonly name = 'counting'
    readonly role = 'cache'
    #count = 0
    async process(_: unknown, callNext: () => Promise<unknown>) {
      this.#count++
      await callNext()
    }
    count() {
      return this.#count
    }
  }
  const counting = new Counting()
  const middleware = traced(counting)

  expect(middleware).toMatchObject({ level: 'chat', name: 'counting', role: 'cache' })
  expect(middleware).toBeInstanceOf(Counting)
  expect(counting.count()).toBe(0)
})

const middlewares = () => {
  const { tracer } = record().options
  return traced([agentMiddleware('a', pass), chatMiddleware('c', pass)], { tracer })
}
describeContract(middlewareContract({ create: middlewares }), { describe, it })

import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  guardrail,
  tool,
} from '@lamella/core'
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

const pass = (_: unknown, callNext: () => Promise<unknown>) => callNext()

describe.each(runModes)('spans of layers, %s', (mode) => {
  it('nest as the layers do, at every level', async () => {
    const recorded = record()
    const layers = traced(
      [
        agentMiddleware('a', pass),
        chatMiddleware('c1', pass),
        [chatMiddleware('c2', pass), functionMiddleware('f', pass)],
      ],
      { tracer: recorded.options.tracer },
    )
    const look = tool({ name: 'look', description: '', execute: () => 'seen' })
    const client = scriptedClient([callFunction('look'), 'Done.'])
    const middleware = [tracing(recorded.options), layers]

    await runIn(mode, new Agent({ client, tools: [look], middleware }))

    expect(await recorded.tree()).toEqual([
      'invoke_agent',
      'invoke_agent > layer a',
      'invoke_agent > layer a > chat',
      'invoke_agent > layer a > chat > layer c1',
      'invoke_agent > layer a > chat > layer c1 > layer c2',
      'invoke_agent > layer a > execute_tool look',
      'invoke_agent > layer a > execute_tool look > layer f',
      'invoke_agent > layer a > chat',
      'invoke_agent > layer a > chat > layer c1',
      'invoke_agent > layer a > chat > layer c1 > layer c2',
    ])
  })

  it('say how the layer ended and how often it called its inside', async () => {
    const recorded = record()
    const layers = [
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
    const middleware = [tracing(recorded.options), traced(layers, { tracer })]

    await runIn(mode, new Agent({ client: scriptedClient([]), middleware }))

    const spans = (await recorded.spans()).filter(({ name }) => name.startsWith('layer'))
    expect(
      spans.map(({ name, attributes }) => [
        name,
        attributes['lamella.layer.calls'],
        attributes['lamella.short_circuit'] ?? false,
        attributes['lamella.layer.role'] ?? 'none',
      ]),
    ).toEqual([
      ['layer twice', 2, false, 'none'],
      ['layer cache', 0, true, 'cache'],
      ['layer cache', 0, true, 'cache'],
    ])
  })

  it('say why a layer stopped the run', async () => {
    const recorded = record()
    const guard = guardrail({ name: 'g', applyTo: ['input'], check: () => ({ action: 'block' }) })
    const { tracer } = recorded.options
    const middleware = [tracing(recorded.options), traced(guard, { tracer })]

    await runIn(mode, new Agent({ client: scriptedClient([]), middleware }))

    const { attributes, events } = await recorded.span('layer g')
    expect(attributes['lamella.status']).toBe('blocked')
    expect(events.map(({ name }) => name)).toEqual(['lamella.guardrail'])
  })
})

it('a layer keeps its own fields, and its place in the order', () => {
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
  const layer = traced(counting)

  expect(layer).toMatchObject({ level: 'chat', name: 'counting', role: 'cache' })
  expect(layer).toBeInstanceOf(Counting)
  expect(counting.count()).toBe(0)
})

const layers = () => {
  const { tracer } = record().options
  return traced([agentMiddleware('a', pass), chatMiddleware('c', pass)], { tracer })
}
describeContract(middlewareContract({ create: layers }), { describe, it })

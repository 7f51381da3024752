import { Agent, chatMiddleware, ProviderError, tool } from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { callInternally } from '@lamella/core/authoring'
import { callFunction, runIn, runModes, scriptedClient, testClock } from '@lamella/testing'
import * as semconv from '@opentelemetry/semantic-conventions/incubating'
import { describe, expect, it } from 'vitest'
import { record } from './telemetry.test-helper.ts'
import { tracing } from './tracing.ts'

const answer = { messages: 'Done.', usage: { inputTokens: 10, outputTokens: 4 } }
const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })

describe.each(runModes)('metrics, %s', (mode) => {
  it('are durations, tokens, time to the first update and cost, by the names of the conventions', async () => {
    const recorded = record()
    const middleware = tracing({
      ...recorded.options,
      cost: ({ model, usage }) => (model === 'm1' ? (usage.outputTokens ?? 0) * 0.5 : undefined),
    })
    const client = scriptedClient([callFunction('look'), answer], { model: 'm1' })

    await runIn(mode, new Agent({ name: 'helper', client, tools: [look], middleware }))

    const metrics = await recorded.metrics()
    const known = new Set<unknown>(Object.values(semconv))
    const own = Object.keys(metrics).filter((name) => !known.has(name))
    expect(own).toEqual(['lamella.client.cost'])
    const durations = metrics[semconv.METRIC_GEN_AI_CLIENT_OPERATION_DURATION]!
    expect(
      durations.map(({ attributes, value }) => [
        attributes['gen_ai.operation.name'],
        (value as { count: number }).count,
      ]),
    ).toEqual([
      ['chat', 2],
      ['execute_tool', 1],
      ['invoke_agent', 1],
    ])
    const tokens = metrics[semconv.METRIC_GEN_AI_CLIENT_TOKEN_USAGE]!
    expect(
      tokens.map(({ attributes, value }) => [
        attributes['gen_ai.token.type'],
        attributes['gen_ai.response.model'],
        (value as { sum: number }).sum > 4,
      ]),
    ).toEqual([
      ['input', 'm1', true],
      ['output', 'm1', true],
    ])
    const first = metrics[semconv.METRIC_GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK]
    expect(first?.length).toBe(mode === 'streamed' ? 1 : undefined)
    const run = await recorded.span('invoke_agent helper')
    expect(metrics['lamella.client.cost']?.[0]?.value).toBe(run.attributes['lamella.cost'])
  })

  it('tell failures apart by their kind', async () => {
    const recorded = record()
    const busy = new ProviderError('busy', { kind: 'overloaded', provider: 'scripted' })
    const middleware = tracing(recorded.options)

    await runIn(mode, new Agent({ client: scriptedClient([busy]), middleware })).catch(() => {})

    const { [semconv.METRIC_GEN_AI_CLIENT_OPERATION_DURATION]: points } = await recorded.metrics()
    expect(points?.map(({ attributes }) => attributes['error.type'])).toEqual([
      'overloaded',
      'overloaded',
    ])
  })

  it('do not count what no provider was asked for', async () => {
    const recorded = record()
    const kept = chatMiddleware('kept', async (context) => {
      context.run.emit({ type: 'cache', data: { status: 'hit' } })
      context.result = answer
    })
    const middleware = [tracing({ ...recorded.options, cost: () => 1 }), kept]

    await runIn(mode, new Agent({ client: scriptedClient([]), middleware }))

    const metrics = await recorded.metrics()
    expect(metrics[semconv.METRIC_GEN_AI_CLIENT_TOKEN_USAGE]).toBeUndefined()
    expect(metrics['lamella.client.cost']).toBeUndefined()
    expect(metrics['lamella.run.events']).toEqual([
      { attributes: { 'lamella.event': 'cache', 'lamella.event.status': 'hit' }, value: 1 },
    ])
  })
})

describe.each(runModes)('what middlewares tell, %s', (mode) => {
  it('is an event on the span in which they tell it', async () => {
    const recorded = record()
    const judge = guardrail({
      name: 'tidy',
      applyTo: ['output', 'result'],
      check: () => ({ action: 'flag', category: 'odd', severity: 0.4 }),
    })
    const retrying = chatMiddleware('retrying', async ({ run }, callNext) => {
      run.emit({ type: 'retry', data: { attempt: 1, delayMs: 20, reason: 'overloaded' } })
      await callNext()
    })
    const client = scriptedClient([callFunction('look'), 'Done.'])
    const middleware = [tracing(recorded.options), judge, retrying]

    await runIn(mode, new Agent({ client, tools: [look], middleware }))

    const spans = await recorded.spans()
    const events = spans.map(({ name, events: told }) => [
      name,
      ...told.map((event) => [event.name, event.attributes]),
    ])
    const retried = [
      'lamella.retry',
      {
        'lamella.retry.attempt': 1,
        'lamella.retry.delayMs': 20,
        'lamella.retry.reason': 'overloaded',
      },
    ]
    const flagged = (stage: string) => [
      'lamella.guardrail',
      {
        'lamella.guardrail.guardrail': 'tidy',
        'lamella.guardrail.stage': stage,
        'lamella.guardrail.status': 'flagged',
        'lamella.guardrail.category': 'odd',
        'lamella.guardrail.severity': 0.4,
      },
    ]
    expect(events).toEqual([
      ['invoke_agent'],
      ['chat', retried],
      ['execute_tool look', flagged('result')],
      ['chat', retried, flagged('output')],
    ])
  })

  it('of a call of their own is a span of its own, with its own tokens', async () => {
    const recorded = record()
    const judge = scriptedClient([{ messages: 'Fine.', usage: { inputTokens: 7 } }], {
      provider: 'other',
      model: 'judge-1',
    })
    const judging = chatMiddleware('judging', async ({ run }, callNext) => {
      await callNext()
      await callInternally(run, { middleware: 'judging', client: judge, input: 'Is it fine?' })
    })
    const middleware = [tracing({ ...recorded.options, cost: () => 1 }), judging]
    const client = scriptedClient([answer])

    await runIn(mode, new Agent({ client, middleware }))

    expect(await recorded.tree()).toEqual([
      'invoke_agent',
      'invoke_agent > chat',
      'invoke_agent > chat > chat judge-1',
    ])
    const own = await recorded.span('chat judge-1')
    expect(own.attributes).toMatchObject({
      'gen_ai.provider.name': 'other',
      'gen_ai.usage.input_tokens': 7,
      'lamella.internal': true,
      'lamella.middleware.name': 'judging',
    })
    const call = await recorded.span('chat')
    expect(call.attributes['gen_ai.usage.input_tokens']).toBe(10)
    const run = await recorded.span('invoke_agent')
    expect(run.attributes['lamella.cost']).toBe(2)
  })
})

it('times are those of the clock that was given', async () => {
  const recorded = record()
  const clock = testClock()
  const slow = scriptedClient(async () => {
    await clock.advance(1500)
    return 'Done.'
  })
  const middleware = tracing({ ...recorded.options, clock })

  await new Agent({ client: slow, middleware }).run('Hello')

  const { [semconv.METRIC_GEN_AI_CLIENT_OPERATION_DURATION]: points } = await recorded.metrics()
  expect(points?.map(({ value }) => (value as { sum: number }).sum)).toEqual([1.5, 1.5])
})

it('metrics can be left out', async () => {
  const recorded = record()
  const middleware = tracing({ ...recorded.options, metrics: false })

  await new Agent({ client: scriptedClient(['Done.']), middleware }).run('Hello')

  expect(await recorded.metrics()).toEqual({})
  expect(await recorded.spans()).toHaveLength(2)
})

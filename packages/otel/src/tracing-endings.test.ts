import type { Middleware } from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  BudgetExhausted,
  chatMiddleware,
  functionMiddleware,
  MiddlewareTermination,
  ProviderError,
  tool,
  ToolError,
} from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { SpanStatusCode } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import { record } from './telemetry.test-helper.ts'
import { tracing } from './tracing.ts'

const overloaded = new ProviderError('busy with what you said', {
  kind: 'overloaded',
  provider: 'scripted',
})
const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })

describe.each(runModes)('a span ends and says how, %s', (mode) => {
  const trial = async (
    middlewares: readonly Middleware[],
    steps: Parameters<typeof scriptedClient>[0] = ['Done.'],
    tools = [look],
  ) => {
    const recorded = record()
    const client = scriptedClient(steps)
    const agent = new Agent({ client, tools, middleware: [tracing(recorded.options), middlewares] })
    await runIn(mode, agent).catch(() => {})
    const spans = await recorded.spans()
    return spans.map(({ name, status, attributes }) => ({
      name,
      status: attributes['lamella.status'],
      ...(attributes['error.type'] !== undefined && { error: attributes['error.type'] }),
      ...(status.code === SpanStatusCode.ERROR && { isError: true }),
      ...(attributes['lamella.short_circuit'] === true && { isShort: true }),
    }))
  }

  it('on a failure of the provider', async () => {
    const failed = { status: 'failed', error: 'overloaded', isError: true }
    expect(await trial([], [overloaded])).toEqual([
      { name: 'invoke_agent', ...failed },
      { name: 'chat', ...failed },
    ])
  })

  it('on a failure of a middleware', async () => {
    const broken = agentMiddleware('broken', () => Promise.reject(new TypeError('no')))
    expect(await trial([broken])).toEqual([
      { name: 'invoke_agent', status: 'failed', error: 'TypeError', isError: true },
    ])
  })

  it('on whatever is thrown', async () => {
    // oxlint-disable-next-line no-throw-literal, prefer-promise-reject-errors
    const broken = chatMiddleware('broken', () => Promise.reject(undefined))
    const failed = { status: 'failed', error: '_OTHER', isError: true }
    expect(await trial([broken])).toEqual([
      { name: 'invoke_agent', ...failed },
      { name: 'chat', ...failed },
    ])
  })

  it('on a failure of a tool, which is none of the run', async () => {
    const tools = [
      tool({ name: 'look', description: '', execute: () => Promise.reject(new RangeError('x')) }),
    ]
    expect((await trial([], [callFunction('look'), 'Done.'], tools))[2]).toEqual({
      name: 'execute_tool look',
      status: 'failed',
      error: 'RangeError',
      isError: true,
    })
  })

  it('on a tool call that a middleware refuses', async () => {
    const refuse = functionMiddleware('refuse', () =>
      Promise.reject(new ToolError('no', { reason: 'denied' })),
    )
    expect((await trial([refuse], [callFunction('look'), 'Done.']))[2]).toEqual({
      name: 'execute_tool look',
      status: 'failed',
      error: 'tool_error',
      isError: true,
    })
  })

  it('on a block, which is no failure', async () => {
    const judge = guardrail({
      name: 'no-secrets',
      applyTo: ['output'],
      check: () => ({ action: 'block', category: 'secret' }),
    })
    expect(await trial(judge)).toEqual([
      { name: 'invoke_agent', status: 'blocked' },
      { name: 'chat', status: 'blocked' },
    ])
  })

  it.each([
    ['terminated', () => new MiddlewareTermination('over')],
    ['budget_exhausted', () => new BudgetExhausted('tokens', 5)],
  ])('on a run that was %s', async (status, make) => {
    const end = chatMiddleware('end', () => Promise.reject(make()))
    expect(await trial([end])).toEqual([
      { name: 'invoke_agent', status },
      { name: 'chat', status },
    ])
  })

  it('on a pause', async () => {
    const ask = functionMiddleware('ask', ({ run }) => run.interrupt('may I?'))
    expect(await trial([ask], [callFunction('look')])).toEqual([
      { name: 'invoke_agent', status: 'paused' },
      { name: 'chat', status: 'completed' },
      { name: 'execute_tool look', status: 'paused' },
    ])
  })

  it('on a short circuit at each level', async () => {
    const short = { status: 'completed', isShort: true }
    const agent = agentMiddleware('a', async (context) => void (context.result = 'A middleware.'))
    const chat = chatMiddleware('c', async (context) => void (context.result = 'A middleware.'))
    const call = functionMiddleware('f', async (context) => void (context.result = 'A middleware.'))

    expect(await trial([agent])).toEqual([{ name: 'invoke_agent', ...short }])
    expect(await trial([chat])).toEqual([
      { name: 'invoke_agent', status: 'completed' },
      { name: 'chat', ...short },
    ])
    expect((await trial([call], [callFunction('look'), 'Done.']))[2]).toEqual({
      name: 'execute_tool look',
      ...short,
    })
  })

  it('on an abort, with the tokens that were spent by then', async () => {
    const recorded = record()
    const controller = new AbortController()
    const hang = tool({
      name: 'hang',
      description: '',
      execute: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
          controller.abort(new Error('the caller went away'))
        }),
    })
    const client = scriptedClient([callFunction('hang')])
    const agent = new Agent({ client, tools: [hang], middleware: tracing(recorded.options) })

    await runIn(mode, agent, { signal: controller.signal }).catch(() => {})

    const spans = await recorded.spans()
    expect(spans.map(({ attributes }) => attributes['lamella.status'])).toEqual([
      'aborted',
      'completed',
      'aborted',
    ])
    expect(spans[0]?.attributes['gen_ai.usage.output_tokens']).toBeGreaterThan(0)
    expect(spans[0]?.status.code).toBe(SpanStatusCode.UNSET)
  })
})

it('spans end when a reader leaves the stream, before the loop is left', async () => {
  const recorded = record()
  const client = scriptedClient(['One two three four five.'])
  const agent = new Agent({ client, middleware: tracing(recorded.options) })

  for await (const { contents } of agent.run('Hello', { stream: true })) {
    if (contents.length > 0) break
  }

  const spans = await recorded.spans()
  expect(spans.map(({ name, attributes }) => [name, attributes['lamella.status']])).toEqual([
    ['invoke_agent', 'aborted'],
    ['chat', 'aborted'],
  ])
})

it('a call that another provider has answered in the end names that one', async () => {
  const recorded = record()
  const other = scriptedClient([overloaded, 'Done.'], { provider: 'other', model: 'm2' })
  const fallback = chatMiddleware('fallback', (context, callNext) =>
    callNext().catch(async () => {
      context.client = other
      await callNext()
    }),
  )
  const client = scriptedClient([overloaded, overloaded], { model: 'm1' })
  const agent = new Agent({ client, middleware: [tracing(recorded.options), fallback] })

  await agent.run('Hello').catch(() => {})
  await agent.run('Hello', { stream: true }).finalResponse()

  const chats = (await recorded.spans()).filter(({ name }) => name === 'chat m1')
  expect(
    chats.map(({ attributes }) => [
      attributes['gen_ai.provider.name'],
      attributes['gen_ai.response.model'],
      attributes['lamella.status'],
    ]),
  ).toEqual([
    ['other', undefined, 'failed'],
    ['other', 'm2', 'completed'],
  ])
})

it('a call that was tried again is one span, with the tokens of all tries', async () => {
  const recorded = record()
  const again = chatMiddleware('again', async (_, callNext) => {
    await callNext()
    await callNext()
  })
  const answer = { messages: 'Done.', usage: { inputTokens: 5, outputTokens: 2 } }
  const client = scriptedClient([answer, answer])
  const agent = new Agent({ client, middleware: [tracing(recorded.options), again] })

  await agent.run('Hello')

  const { attributes } = await recorded.span('chat')
  expect(attributes['gen_ai.usage.input_tokens']).toBe(10)
})

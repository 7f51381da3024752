import type { Checkpoint } from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  agentTool,
  chatMiddleware,
  explain,
  tool,
  withMiddleware,
} from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { context, SpanKind, trace } from '@opentelemetry/api'
import * as semconv from '@opentelemetry/semantic-conventions/incubating'
import { describe, expect, it } from 'vitest'
import { record } from './telemetry.test-helper.ts'
import { tracing } from './tracing.ts'

const tick = () => new Promise<void>((resolve) => setImmediate(resolve))
const look = tool({
  name: 'look',
  description: 'Looks.',
  execute: async () => {
    await tick()
    return 'seen'
  },
})
const twoCalls = () => [[callFunction('look'), callFunction('look')], 'Done.']

describe.each(runModes)('spans, %s', (mode) => {
  it('nest: a run, its model calls, its tool calls, also those of a parallel batch', async () => {
    const recorded = record()
    const middleware = tracing(recorded.options)
    const client = scriptedClient(twoCalls(), { model: 'm1' })
    const agent = new Agent({ name: 'helper', client, tools: [look], middleware })

    await runIn(mode, agent)

    expect(await recorded.tree()).toEqual([
      'invoke_agent helper',
      'invoke_agent helper > chat m1',
      'invoke_agent helper > execute_tool look',
      'invoke_agent helper > execute_tool look',
      'invoke_agent helper > chat m1',
    ])
  })

  it('lie under the span of the caller, and what the caller does meanwhile does not lie under them', async () => {
    const recorded = record()
    const middleware = tracing(recorded.options)
    const agent = new Agent({ client: scriptedClient(['One two three.']), middleware })

    await recorded.tracer.startActiveSpan('request', async (request) => {
      if (mode === 'plain') await agent.run('Hello')
      else {
        for await (const _ of agent.run('Hello', { stream: true })) {
          recorded.tracer.startSpan('show').end()
        }
      }
      request.end()
    })

    const tree = new Set(await recorded.tree())
    tree.delete('request > show')
    expect([...tree]).toEqual([
      'request',
      'request > invoke_agent',
      'request > invoke_agent > chat',
    ])
  })

  it('have those of the provider and of tools under them', async () => {
    const recorded = record()
    const inner = (name: string) => recorded.tracer.startSpan(name).end()
    const work = tool({ name: 'work', description: 'Works.', execute: () => inner('query') })
    const client = scriptedClient(async ({ index }) => {
      inner('POST')
      await tick()
      return index === 0 ? callFunction('work') : 'Done.'
    })
    const agent = new Agent({ client, tools: [work], middleware: tracing(recorded.options) })

    await runIn(mode, agent)

    expect(await recorded.tree()).toEqual([
      'invoke_agent',
      'invoke_agent > chat',
      'invoke_agent > chat > POST',
      'invoke_agent > execute_tool work',
      'invoke_agent > execute_tool work > query',
      'invoke_agent > chat',
      'invoke_agent > chat > POST',
    ])
  })

  it('name the client that answered, after a fallback too', async () => {
    const recorded = record()
    const west = scriptedClient(['West.'], { name: 'west' })
    const toWest = chatMiddleware('to-west', async (call, callNext) => {
      if (call.iteration === 1) call.client = west
      await callNext()
      if (call.iteration === 1) call.run.recordAttempt({ status: 'ok', client: 'west' })
    })
    const work = tool({ name: 'work', description: 'Works.', execute: () => 'done' })
    const client = scriptedClient([callFunction('work')], { name: 'east' })
    const middleware = [tracing(recorded.options), toWest]
    const agent = new Agent({ client, tools: [work], middleware })

    await runIn(mode, agent)

    const spans = await recorded.spans()
    const names = spans.flatMap(({ attributes }) => attributes['lamella.client'] ?? [])
    expect(names).toEqual(['east', 'west'])
  })

  it('of a sub-agent lie under the tool call that runs it', async () => {
    const recorded = record()
    const middleware = tracing(recorded.options)
    const inside = new Agent({ name: 'inside', client: scriptedClient(['Found.']), middleware })
    const client = scriptedClient([callFunction('inside', { task: 'Find it.' }), 'Done.'])
    const agent = new Agent({ name: 'outside', client, tools: [agentTool(inside)], middleware })

    await runIn(mode, agent)

    expect(await recorded.tree()).toContain(
      'invoke_agent outside > execute_tool inside > invoke_agent inside > chat',
    )
    const outside = await recorded.span('invoke_agent outside')
    const sub = await recorded.span('invoke_agent inside')
    expect(sub.attributes['lamella.run.parent_id']).toBe(outside.attributes['lamella.run.id'])
  })

  it('of a resumed run are linked with its first part', async () => {
    const recorded = record()
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      approval: 'always',
      execute: () => 'paid',
    })
    const client = scriptedClient([callFunction('pay'), 'Done.'])
    const agent = new Agent({ client, tools: [pay], middleware: tracing(recorded.options) })

    const paused = await runIn(mode, agent)
    const checkpoint = JSON.parse(JSON.stringify(paused.checkpoint)) as NonNullable<
      typeof paused.checkpoint
    >
    await agent.resume(checkpoint, { [paused.pending[0]!.id]: true })

    const [first, second] = (await recorded.spans()).filter(({ name }) => name === 'invoke_agent')
    expect(first?.attributes['lamella.status']).toBe('paused')
    expect(second?.attributes).toMatchObject({
      'lamella.status': 'completed',
      'lamella.run.resumed': true,
      'lamella.run.id': first?.attributes['lamella.run.id'],
    })
    expect(second?.links.map((link) => link.context.spanId)).toEqual([first?.spanContext().spanId])
    expect(second?.spanContext().traceId).not.toBe(first?.spanContext().traceId)
    expect(await recorded.tree()).toEqual([
      'invoke_agent',
      'invoke_agent > chat',
      'invoke_agent',
      'invoke_agent > execute_tool pay',
      'invoke_agent > chat',
    ])
  })

  it('of a run that continues from a step are linked with the part that was cut off', async () => {
    const recorded = record()
    const make = (steps: Parameters<typeof scriptedClient>[0]): Agent =>
      new Agent({
        client: scriptedClient(steps),
        tools: [look],
        middleware: tracing(recorded.options),
      })
    const kept: Checkpoint[] = []
    const onCheckpoint = (checkpoint: Checkpoint): void => {
      kept.push(checkpoint)
      if (checkpoint.journal.some(({ kind }) => kind === 'tool'))
        throw new Error('the process dies')
    }
    const dying = make([callFunction('look')])
    await runIn(mode, dying, { onCheckpoint }).catch(() => {})

    await make(['Done.']).resume(kept.at(-1)!, {})

    const [first, second] = (await recorded.spans()).filter(({ name }) => name === 'invoke_agent')
    expect(second?.attributes['lamella.run.resumed']).toBe(true)
    expect(second?.links.map((link) => link.context.spanId)).toEqual([first?.spanContext().spanId])
  })

  it('have the names and the kinds of the conventions', async () => {
    const recorded = record()
    const agent = new Agent({
      name: 'helper',
      description: 'Helps.',
      client: scriptedClient(
        [
          callFunction('look'),
          {
            messages: 'Done.',
            usage: {
              inputTokens: 9,
              outputTokens: 4,
              cachedInputTokens: 3,
              cacheWriteTokens: 2,
              reasoningTokens: 1,
            },
          },
        ],
        { model: 'm1', provider: 'azure-openai' },
      ),
      tools: [look],
      options: { temperature: 0.5, topP: 0.9, maxOutputTokens: 100, seed: 7, stop: ['END'] },
      middleware: tracing(recorded.options),
    })
    const session = agent.createSession({ id: 'session_1' })

    await runIn(mode, agent, { session, runId: 'run_1' })

    const spans = await recorded.spans()
    const known = new Set<unknown>(Object.values(semconv))
    const names = spans.flatMap(({ attributes }) => Object.keys(attributes))
    expect(names.filter((name) => !name.startsWith('lamella.') && !known.has(name))).toEqual([])
    const [run, , call, chat] = spans
    expect(run?.kind).toBe(SpanKind.INTERNAL)
    expect(run?.attributes).toMatchObject({
      [semconv.ATTR_GEN_AI_OPERATION_NAME]: semconv.GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
      [semconv.ATTR_GEN_AI_PROVIDER_NAME]: semconv.GEN_AI_PROVIDER_NAME_VALUE_AZURE_AI_OPENAI,
      [semconv.ATTR_GEN_AI_AGENT_NAME]: 'helper',
      [semconv.ATTR_GEN_AI_AGENT_DESCRIPTION]: 'Helps.',
      [semconv.ATTR_GEN_AI_CONVERSATION_ID]: 'session_1',
      [semconv.ATTR_GEN_AI_REQUEST_MODEL]: 'm1',
      'lamella.run.id': 'run_1',
      'lamella.status': 'completed',
    })
    expect(chat?.kind).toBe(SpanKind.CLIENT)
    expect(chat?.attributes).toMatchObject({
      [semconv.ATTR_GEN_AI_OPERATION_NAME]: semconv.GEN_AI_OPERATION_NAME_VALUE_CHAT,
      [semconv.ATTR_GEN_AI_REQUEST_MODEL]: 'm1',
      [semconv.ATTR_GEN_AI_REQUEST_TEMPERATURE]: 0.5,
      [semconv.ATTR_GEN_AI_REQUEST_TOP_P]: 0.9,
      [semconv.ATTR_GEN_AI_REQUEST_MAX_TOKENS]: 100,
      [semconv.ATTR_GEN_AI_REQUEST_SEED]: 7,
      [semconv.ATTR_GEN_AI_REQUEST_STOP_SEQUENCES]: ['END'],
      [semconv.ATTR_GEN_AI_RESPONSE_FINISH_REASONS]: ['stop'],
      [semconv.ATTR_GEN_AI_RESPONSE_ID]: expect.any(String) as string,
      [semconv.ATTR_GEN_AI_USAGE_INPUT_TOKENS]: 9,
      [semconv.ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: 4,
      [semconv.ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: 3,
      [semconv.ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS]: 2,
      [semconv.ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS]: 1,
    })
    const isStreamed = mode === 'streamed' || undefined
    expect(chat?.attributes[semconv.ATTR_GEN_AI_REQUEST_STREAM]).toBe(isStreamed)
    const firstChunk = chat?.attributes[semconv.ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK]
    expect(typeof firstChunk).toBe(isStreamed ? 'number' : 'undefined')
    expect(call?.kind).toBe(SpanKind.INTERNAL)
    expect(call?.attributes).toMatchObject({
      [semconv.ATTR_GEN_AI_OPERATION_NAME]: semconv.GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL,
      [semconv.ATTR_GEN_AI_TOOL_NAME]: 'look',
      [semconv.ATTR_GEN_AI_TOOL_TYPE]: 'function',
      [semconv.ATTR_GEN_AI_TOOL_CALL_ID]: 'azure-openai-call_1',
    })
  })

  it('stay apart in a thousand runs at the same time', async () => {
    const recorded = record()
    const client = scriptedClient(({ messages }) =>
      messages.length > 1 ? 'Done.' : callFunction('look'),
    )
    const agent = new Agent({ client, tools: [look], middleware: tracing(recorded.options) })

    const runs = Array.from({ length: 1000 }, (_, index) =>
      runIn(mode, agent, { runId: `run_${index}` }),
    )
    await Promise.all(runs)

    const traces = new Map<string, unknown[]>()
    for (const span of await recorded.spans()) {
      const { traceId } = span.spanContext()
      traces.set(traceId, [...(traces.get(traceId) ?? []), span.attributes['lamella.run.id']])
    }
    expect(traces.size).toBe(1000)
    for (const ids of traces.values()) {
      expect(ids).toHaveLength(4)
      expect(new Set(ids).size).toBe(1)
    }
  })
})

it('a client has spans of its own, and all its other middlewares run once', async () => {
  const recorded = record()
  let count = 0
  const counting = chatMiddleware('counting', async (_, callNext) => {
    count++
    await callNext()
  })
  const scripted = scriptedClient(['One.', 'Two.'], { model: 'm1' })
  const middlewares = tracing({ ...recorded.options, level: 'chat' })
  const client = withMiddleware(scripted, [middlewares, counting])

  await client.getResponse('Hello')
  const streamed = client.getResponse('Hello', { stream: true })

  expect((await streamed.finalResponse()).text).toBe('Two.')
  expect(await recorded.tree()).toEqual(['chat m1', 'chat m1'])
  expect(count).toBe(2)
})

it('the middlewares of a client under a traced agent run once, streamed too', async () => {
  const recorded = record()
  let count = 0
  const counting = chatMiddleware('counting', async (_, callNext) => {
    count++
    await callNext()
  })
  const client = withMiddleware(scriptedClient(['One.']), [counting])
  const agent = new Agent({ client, middleware: tracing(recorded.options) })

  const { text } = await agent.run('Hello', { stream: true }).finalResponse()

  expect([text, count]).toEqual(['One.', 1])
})

it('a client that a middleware puts in place runs its own middlewares, streamed too', async () => {
  const recorded = record()
  let count = 0
  const counting = chatMiddleware('counting', async (_, callNext) => {
    count++
    await callNext()
  })
  const guest = withMiddleware(scriptedClient(['From the guest.']), [counting])
  const swap = chatMiddleware('swap', async (around, callNext) => {
    around.client = guest
    await callNext()
  })
  const middleware = [swap, tracing(recorded.options)]
  const agent = new Agent({ client: scriptedClient([]), middleware })

  const { text } = await agent.run('Hello', { stream: true }).finalResponse()

  expect([text, count]).toEqual(['From the guest.', 1])
})

it('the version of the conventions is on the scope, and can be an older one', async () => {
  const recorded = record()
  trace.setGlobalTracerProvider(recorded.provider)
  const run = async (options: Parameters<typeof tracing>[0]) => {
    const client = scriptedClient(['Done.'], { provider: 'azure-openai' })
    await new Agent({ client, middleware: tracing(options) }).run('Hello')
  }

  await run({})
  await run({ semconv: '1.36' })
  trace.disable()

  const chats = (await recorded.spans()).filter(({ name }) => name === 'chat')
  const [latest, oldest] = [chats[0]!, chats.at(-1)!]
  expect(latest.instrumentationScope).toMatchObject({
    name: '@lamella/otel',
    schemaUrl: 'https://opentelemetry.io/schemas/1.45.0',
  })
  expect(oldest.instrumentationScope.schemaUrl).toBe('https://opentelemetry.io/schemas/1.36.0')
  expect(latest.attributes['gen_ai.provider.name']).toBe('azure.ai.openai')
  expect(oldest.attributes['gen_ai.system']).toBe('az.ai.openai')
  expect(oldest.attributes['gen_ai.provider.name']).toBeUndefined()
})

it('an operator can ask for the latest conventions', async () => {
  const recorded = record()
  process.env['OTEL_SEMCONV_STABILITY_OPT_IN'] = 'http, gen_ai_latest_experimental'
  const middleware = tracing({ ...recorded.options, semconv: '1.36' })
  delete process.env['OTEL_SEMCONV_STABILITY_OPT_IN']

  await new Agent({ client: scriptedClient(['Done.']), middleware }).run('Hello')

  const { attributes } = await recorded.span('chat')
  expect(attributes['gen_ai.provider.name']).toBe('scripted')
})

it('attributes of the application are added, and `when` leaves a call out', async () => {
  const recorded = record()
  const middleware = tracing({
    ...recorded.options,
    attributes: ({ run }) => ({ tenant: String(run.data) }),
    when: ({ run }) => run.data !== 'secret',
  })
  const agent = new Agent({ client: scriptedClient(['One.', 'Two.']), middleware })

  await agent.run('Hello', { data: 'acme' })
  await agent.run('Hello', { data: 'secret' })

  const spans = await recorded.spans()
  expect(spans.map(({ attributes }) => attributes['tenant'])).toEqual(['acme', 'acme'])
})

it('the middlewares have a role, so that their order is checked', () => {
  const budget = { ...agentMiddleware('b', (_, next) => next()), role: 'budget' }
  const agent = new Agent({ client: scriptedClient([]), middleware: [budget, tracing()] })

  expect(explain(agent, '').warnings).toEqual([
    'agent: place tracing before b, to record every call that b makes',
  ])
})

it('the context of a caller that has none is left alone', () => {
  expect(trace.getSpan(context.active())).toBeUndefined()
})

import type { AgentResponseUpdate, MiddlewareInput } from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  outcomeOf,
  ProviderError,
  tool,
} from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import {
  callFunction,
  describeContract,
  middlewareContract,
  scriptedClient,
} from '@lamella/testing'
import { createNoopMeter, INVALID_SPAN_CONTEXT } from '@opentelemetry/api'
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { describe, expect, it } from 'vitest'
import { record } from './telemetry.test-helper.ts'
import { tracing } from './tracing.ts'
import type { TracingOptions } from './base/tracing-options.ts'

const fail = (): never => {
  throw new Error('telemetry is broken')
}
const tick = () => new Promise<void>((resolve) => setImmediate(resolve))
const brokenMethods = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, fail]))

/** Ways to trace, none of which may show. */
const telemetries: Readonly<Record<string, () => TracingOptions>> = {
  on: () => record().options,
  'on, with content': () => ({
    ...record().options,
    captureContent: 'attributes',
    redact: (text) => text.toUpperCase(),
  }),
  'without an SDK': () => ({}),
  'with a tracer that throws': () => ({ tracer: { startSpan: fail }, meter: createNoopMeter() }),
  'with spans that throw': () => ({
    tracer: {
      startSpan: () => ({
        ...brokenMethods(['setAttributes', 'addEvent', 'end', 'setStatus', 'setAttribute']),
        isRecording: () => true,
        spanContext: () => INVALID_SPAN_CONTEXT,
      }),
    },
    captureContent: 'events',
  }),
  'with an exporter that throws': () => {
    const exporter = { export: fail, shutdown: async () => {} }
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
    return { tracer: provider.getTracer('broken') }
  },
  'with a processor that throws': () => {
    const processor = { onStart: fail, onEnd: fail, forceFlush: tick, shutdown: tick }
    const provider = new TracerProvider({ spanProcessors: [processor] })
    return { tracer: provider.getTracer('broken') }
  },
  'with a meter that throws': () => ({
    ...record().options,
    meter: { createHistogram: fail, createCounter: fail },
  }),
  'with instruments that throw': () => ({
    ...record().options,
    meter: { createHistogram: () => ({ record: fail }), createCounter: () => ({ add: fail }) },
  }),
  'with callbacks that throw': () => ({
    ...record().options,
    captureContent: 'attributes',
    attributes: fail,
    cost: fail,
    redact: fail,
    log: fail,
    random: fail,
    sampleContent: 0.5,
    onEvent: fail,
  }),
  'with a condition that throws': () => ({ ...record().options, when: fail }),
}

/** Runs of every kind: what the middleware is, what the model says, what the caller does. */
interface Scenario {
  readonly middlewares?: (() => MiddlewareInput) | undefined
  readonly steps: () => Parameters<typeof scriptedClient>[0]
  readonly leavesAfter?: number
  readonly aborts?: boolean
}

const overloaded = () => new ProviderError('busy', { kind: 'overloaded', provider: 'scripted' })
const calls = () => [callFunction('look', { at: 1 }, 'c1'), callFunction('fail', {}, 'c2')]
const scenarios: Readonly<Record<string, Scenario>> = {
  'an answer': { steps: () => ['One two three four.'] },
  tools: { steps: () => [calls(), 'Done with it.'] },
  'a failure in the middle': { steps: () => [{ updates: ['One '], error: overloaded() }] },
  'another try': {
    steps: () => [{ updates: ['One '], error: overloaded() }, 'Two three.'],
    middlewares: () =>
      chatMiddleware('again', (_, callNext) =>
        callNext().catch(async () => void (await callNext())),
      ),
  },
  'a block': {
    steps: () => ['Some secret text.'],
    middlewares: () =>
      guardrail({
        name: 'guardrail',
        applyTo: ['output'],
        check: ({ text }) => ({ action: text.includes('secret') ? 'block' : 'allow' }),
      }),
  },
  'a redaction': {
    steps: () => ['Some secret text.'],
    middlewares: () =>
      guardrail({
        name: 'guardrail',
        applyTo: ['output'],
        check: ({ text }) => {
          const start = text.indexOf('secret')
          return start < 0
            ? { action: 'allow' }
            : { action: 'replace', replacement: '***', spans: [{ start, end: start + 6 }] }
        },
      }),
  },
  'a short circuit': {
    steps: () => [],
    middlewares: () =>
      agentMiddleware('short', async (context) => void (context.result = 'At once.')),
  },
  'a pause': { steps: () => [callFunction('pay', {}, 'c1')] },
  'an abort': { steps: () => [callFunction('abort', {}, 'c1'), 'Never.'], aborts: true },
  'a reader that leaves': { steps: () => ['One two three four five.'], leavesAfter: 2 },
}

async function trial(scenario: Scenario, stream: boolean, telemetry: MiddlewareInput) {
  const controller = new AbortController()
  const log: string[] = []
  const note = (name: string) => async (_: unknown, callNext: () => Promise<unknown>) => {
    log.push(`${name} in`)
    try {
      await callNext()
      log.push(`${name} out`)
    } finally {
      log.push(`${name} left`)
    }
  }
  const notes = (place: string) => [
    agentMiddleware(`agent-${place}`, note(`agent ${place}`)),
    chatMiddleware(`chat-${place}`, note(`chat ${place}`)),
    functionMiddleware(`function-${place}`, (context, callNext) =>
      note(`${context.callId} ${place}`)(context, callNext),
    ),
  ]
  const make = (name: string, execute: () => unknown) =>
    tool({ name, description: '', execute, ...(name === 'pay' && { approval: 'always' }) })
  const tools = [
    make('look', async () => (await tick(), 'seen')),
    make('fail', () => Promise.reject(new Error('broken'))),
    make('pay', () => 'paid'),
    make('abort', async () => (controller.abort(new Error('gone')), await tick())),
  ]
  const middlewares = [notes('outside'), telemetry, scenario.middlewares?.() ?? [], notes('inside')]
  const client = scriptedClient(scenario.steps(), { chunk: 3 })
  const agent = new Agent({ name: 'helper', client, tools, middleware: middlewares })
  const session = agent.createSession({ id: 'session_1' })
  const options = { session, runId: 'run_1', signal: controller.signal }
  const updates: AgentResponseUpdate[] = []
  const events: unknown[] = []
  const onEvent = (event: unknown) => events.push(event)

  const run = async () => {
    if (!stream) return agent.run('Hello', { ...options, onEvent })
    const streamed = agent.run('Hello', { ...options, onEvent, stream: true })
    for await (const update of streamed) {
      updates.push(update)
      if (updates.length === scenario.leavesAfter) break
    }
    return streamed.finalResponse()
  }
  const result = await run().catch((error: unknown) => ({
    error: String(error),
    outcome: outcomeOf(error),
  }))
  return withStableIds({ result, updates, events, log, session, requests: client.requests })
}

/** Without what differs from run to run, and what a pause keeps for the links between spans. */
function withStableIds(value: unknown): unknown {
  const ids = new Map<string, string>()
  const json = JSON.stringify(value, (key, item: unknown) =>
    ['lamella.otel.parts', 'signal', 'signature'].includes(key) ? undefined : item,
  )
  const stable = json.replaceAll(
    /\b([a-z]+)_([0-9a-z]{4,}-[0-9a-z]+|[0-9a-f]{8,})\b/g,
    (id, kind) => {
      if (!ids.has(id)) ids.set(id, `${kind}#${ids.size}`)
      return ids.get(id)!
    },
  )
  return JSON.parse(stable) as unknown
}

describe.each(Object.entries(scenarios))('telemetry changes nothing: %s', (_, scenario) => {
  it.each([false, true])('streamed: %s', async (stream) => {
    if (!stream && scenario.leavesAfter !== undefined) return

    const off = await trial(scenario, stream, tracing({ mode: 'off' }))

    for (const [name, make] of Object.entries(telemetries)) {
      expect([name, await trial(scenario, stream, tracing(make()))]).toEqual([name, off])
    }
    expect(JSON.stringify(off)).toContain('outside in')
  })
})

describe('no telemetry', () => {
  it('is no middleware', () => {
    expect(tracing({ mode: 'off' })).toEqual([])
  })

  it('tells of its own failures, once asked', async () => {
    const failures: unknown[] = []
    const middleware = tracing({
      tracer: { startSpan: fail },
      onEvent: ({ status, error }) => failures.push(`${status}: ${String(error)}`),
    })

    await new Agent({ client: scriptedClient(['Done.']), middleware }).run('Hello')

    expect(new Set(failures)).toEqual(new Set(['error: Error: telemetry is broken']))
  })
})

const texts = ['Some other text.']
describeContract(
  middlewareContract({ name: 'contract, on', create: () => tracing(record().options), texts }),
  { describe, it },
)
describeContract(middlewareContract({ name: 'contract, no SDK', create: () => tracing(), texts }), {
  describe,
  it,
})

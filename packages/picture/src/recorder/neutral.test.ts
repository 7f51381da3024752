import type { AgentResponseUpdate, MiddlewareInput } from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  outcomeOf,
  tool,
} from '@lamella/core'
import {
  callFunction,
  describeContract,
  middlewareContract,
  scriptedClient,
} from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { again, blocks, note, overloaded, shout } from '../recording.test-helper.ts'
import { recorder } from './recorder.ts'
import type { RecorderOptions } from './recorder-options.ts'

const fail = (): never => {
  throw new Error('recording is broken')
}
const tick = () => new Promise<void>((resolve) => setImmediate(resolve))
const nowhere = { write: () => {} }

/** Ways to record, none of which may show. */
const recorders: Readonly<Record<string, RecorderOptions>> = {
  on: { sink: nowhere },
  'with full content': {
    sink: nowhere,
    capture: 'full',
    prices: { scripted: { input: 1, output: 1 } },
  },
  'with a sink that throws': { sink: { write: fail } },
  'with a sink that never ends': { sink: { write: () => new Promise(() => {}) } },
  'with callbacks that throw': {
    sink: nowhere,
    capture: 'redacted',
    redact: fail,
    onEvent: fail,
    when: fail,
  },
  'with a clock that throws': { sink: nowhere, clock: { now: fail } },
}

/** Runs of every kind: which middleware there are, what the model says, what the caller does. */
interface Scenario {
  readonly middleware?: (() => MiddlewareInput) | undefined
  readonly steps: () => Parameters<typeof scriptedClient>[0]
  readonly leavesAfter?: number
}

const calls = () => [callFunction('look', { at: 1 }, 'c1'), callFunction('fail', {}, 'c2')]
const scenarios: Readonly<Record<string, Scenario>> = {
  'an answer': { steps: () => ['One two three four.'] },
  tools: { steps: () => [calls(), 'Done with it.'] },
  'a failure in the middle': { steps: () => [{ updates: ['One '], error: overloaded() }] },
  'another attempt': {
    steps: () => [{ updates: ['One '], error: overloaded() }, 'Two.'],
    middleware: again,
  },
  'another attempt at a run': {
    steps: () => [{ updates: ['One '], error: overloaded() }, 'Two.'],
    middleware: () =>
      agentMiddleware('again', (_, callNext) =>
        callNext().catch(async () => void (await callNext())),
      ),
  },
  'changes on the way in and out': {
    steps: () => [calls(), 'Done.'],
    middleware: () => [note(), shout()],
  },
  'a block': { steps: () => ['Some secret text.'], middleware: () => blocks('secret') },
  'a result in place of the answer': {
    steps: () => ['One.'],
    middleware: () =>
      chatMiddleware('other', async (context, callNext) => {
        await callNext()
        context.result = 'Two.'
      }),
  },
  'a short circuit': {
    steps: () => [],
    middleware: () =>
      agentMiddleware('short', async (context) => void (context.result = 'At once.')),
  },
  'a pause': { steps: () => [callFunction('pay', {}, 'c1')] },
  'an abort': { steps: () => [callFunction('abort', {}, 'c1'), 'Never.'] },
  'a reader that leaves': { steps: () => ['One two three four five.'], leavesAfter: 2 },
}

async function trial(
  scenario: Scenario,
  stream: boolean,
  wrap: (list: MiddlewareInput) => MiddlewareInput,
): Promise<unknown> {
  const controller = new AbortController()
  const log: string[] = []
  const told = (name: string) => async (_: unknown, callNext: () => Promise<unknown>) => {
    log.push(`${name} in`)
    try {
      await callNext()
      log.push(`${name} out`)
    } finally {
      log.push(`${name} left`)
    }
  }
  const logs = (place: string) => [
    agentMiddleware(`agent-${place}`, told(`agent ${place}`)),
    chatMiddleware(`chat-${place}`, told(`chat ${place}`)),
    functionMiddleware(`function-${place}`, (context, callNext) =>
      told(`${context.callId} ${place}`)(context, callNext),
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
  const list = [logs('outside'), scenario.middleware?.() ?? [], logs('inside')]
  const client = scriptedClient(scenario.steps(), { chunk: 3 })
  const agent = new Agent({ name: 'helper', client, tools, middleware: wrap(list) })
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

function withStableIds(value: unknown): unknown {
  const ids = new Map<string, string>()
  const json = JSON.stringify(value, (key, item: unknown) =>
    ['signal', 'signature'].includes(key) ? undefined : item,
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

describe.each(Object.entries(scenarios))('recording changes nothing: %s', (_, scenario) => {
  it.each([false, true])('streamed: %s', async (stream) => {
    if (!stream && scenario.leavesAfter !== undefined) return

    const off = await trial(scenario, stream, (list) => list)

    for (const [name, options] of Object.entries(recorders)) {
      const on = await trial(scenario, stream, (list) => recorder(options).middleware(list))
      expect([name, on]).toEqual([name, off])
    }
    expect(JSON.stringify(off)).toContain('outside in')
  })
})

describeContract(
  middlewareContract({
    name: 'recorder',
    create: () => recorder({ sink: nowhere }).middleware(),
    texts: ['Some other text.'],
  }),
  { describe, it },
)

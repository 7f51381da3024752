import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type {
  AgentOptions,
  AgentResponse,
  ChatClient,
  KeyValueStore,
  MessageInput,
  MiddlewareInput,
} from '../../packages/core/src/index.ts'
import {
  Agent,
  jsonSchema,
  memoryStore,
  ProviderError,
  tool,
} from '../../packages/core/src/index.ts'
import { runDurably, storedUpdates } from '../../packages/durable/src/index.ts'
import { FakeWorkflow } from '../../packages/durable/src/testing/fake-workflow.test-helper.ts'
import { guardrail } from '../../packages/guardrail/src/index.ts'
import { llmJudge } from '../../packages/guardrail-judge/src/index.ts'
import { toolPolicy } from '../../packages/guardrail-tools/src/index.ts'
import { cache } from '../../packages/middleware-cache/src/index.ts'
import { fallback } from '../../packages/middleware-fallback/src/index.ts'
import { schemaValidator } from '../../packages/middleware-schema/src/index.ts'
import { contentTruncator, patchToolCalls } from '../../packages/middleware-truncate/src/index.ts'
import type { ScriptedReply } from '../../packages/testing/src/index.ts'
import {
  callFunction,
  scriptedClient,
  testClock,
  testRandom,
} from '../../packages/testing/src/index.ts'

/** A run in which some middleware makes an id. */
interface Case {
  readonly replies: readonly ScriptedReply[]
  readonly middleware: (store: KeyValueStore) => MiddlewareInput
  readonly input?: MessageInput
  /** Makes what earlier runs have left in the store. */
  readonly before?: (agent: Agent) => Promise<unknown>
}

const broken = new ProviderError('cut off', { kind: 'network', provider: 'scripted' })

const report = tool({
  name: 'report',
  description: 'Reports.',
  parameters: jsonSchema({ type: 'object' }),
  execute: () => 'A long report. '.repeat(40),
})

const open = {
  id: 'asked',
  role: 'assistant',
  contents: [{ type: 'function-call', callId: 'call_9', name: 'report', arguments: '{}' }],
} as const

const answer = jsonSchema({
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
})

const cases: Readonly<Record<string, Case>> = {
  'a hit of a cache': {
    replies: ['Sunny.'],
    middleware: (store) => cache({ store, scope: 'shared' }),
    before: (agent) => agent.run('Go.'),
  },
  'an answer that another model continues': {
    replies: [{ updates: ['One, two, '], error: broken }],
    middleware: () =>
      fallback({ clients: [scriptedClient(() => 'three.')], midStream: 'continue' }),
  },
  'a question for an answer that fits a schema': {
    replies: ['No.', '{"answer":"yes"}'],
    middleware: () => schemaValidator({ schema: answer, repair: ['re-ask'] }),
  },
  'an answer in place of one without text': {
    replies: [[{ type: 'reasoning', text: 'Hm.' }]],
    middleware: () =>
      schemaValidator({ schema: answer, maxReasks: 0, onFailure: { fallback: { answer: 'no' } } }),
  },
  'a result in place of one that never came': {
    replies: ['Fine.'],
    middleware: () => patchToolCalls(),
    input: ['Go.', open, { role: 'user', contents: 'And now?' }],
  },
  'an answer that a guardrail asks for again': {
    replies: ['A bad word.', 'A good word.'],
    middleware: () =>
      guardrail({
        name: 'words',
        applyTo: ['output'],
        stream: { release: 'full' },
        check: ({ text }) => ({ action: text.includes('bad') ? 'retry' : 'allow' }),
      }),
  },
  'a ticket of a judge, and a sample': {
    replies: ['Sunny.'],
    middleware: () =>
      llmJudge({
        client: judge,
        sampleRate: 0.5,
        criteria: [{ id: 'rude', question: 'Is it rude?', failIf: 'yes' }],
      }),
  },
  'a result that is kept elsewhere': {
    replies: [callFunction('report', {}, 'first'), 'Read.'],
    middleware: (store) => contentTruncator({ maxChars: 50, spill: { store } }),
  },
  'an approval of a policy': {
    replies: [callFunction('report', {}, 'first'), 'Reported.'],
    middleware: (store) => toolPolicy({ ask: ['report'], approval: { store } }),
  },
}

const judge = scriptedClient(({ instructions = '' }) => {
  const [ticket] = instructions.match(/verdict_\w+/) ?? []
  return JSON.stringify({ ticket, scores: { rude: 0 } })
})

/** The agent of a case in a process of its own, with what earlier runs have left. */
function agentOf(
  { replies, middleware }: Case,
  store: KeyValueStore,
  client: ChatClient = scriptedClient(replies),
  given: Pick<AgentOptions, 'clock' | 'random'> = {},
): Agent {
  return new Agent({ client, tools: [report], middleware: middleware(store), ...given })
}

describe.each(Object.entries(cases))('%s', (_, given) => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_000 })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const { before, input = 'Go.', replies } = given

  /** All that a run with injected random numbers tells, as JSON. */
  async function told(): Promise<string> {
    const store = memoryStore()
    await before?.(agentOf(given, store))
    const client = scriptedClient(replies)
    const agent = agentOf(given, store, client, { clock: testClock(), random: testRandom(3) })
    const updates: unknown[] = []
    const stream = agent.run(input, { stream: true })
    for await (const update of stream) updates.push(update)
    const paused = await stream.finalResponse()
    const done =
      paused.checkpoint &&
      (await agent.resume(paused.checkpoint, { [paused.pending[0]!.id]: true }))
    return JSON.stringify({ updates, paused, done, requests: client.requests })
  }

  test('equal random numbers give equal ids', async () => {
    expect(await told()).toBe(await told())
  })

  test('a durable run has the same ids in whatever processes it runs', async () => {
    const whole = new FakeWorkflow()
    const expected = await runKilled(whole)
    expect(expected).toContain('"completed"')

    for (let at = 1; at < whole.at; at++) {
      const workflow = new FakeWorkflow()
      // The seed of both is the same.
      workflow.steps[0] = whole.steps[0]
      expect(await runKilled(workflow, at)).toBe(expected)
    }
  })

  async function runKilled(workflow: FakeWorkflow, killAt?: number): Promise<string> {
    const store = memoryStore()
    await before?.(agentOf(given, store))
    const client = scriptedClient(
      ({ messages }) => replies[messages.length > 1 ? replies.length - 1 : 0]!,
    )
    const pass = (at?: number): Promise<AgentResponse | 'killed'> =>
      workflow.pass(
        (engine) =>
          runDurably(agentOf(given, store, client), input, {
            ...engine,
            updates: storedUpdates(store, { flushMs: 0 }),
          }),
        {
          killAt: at,
          answer: (requests) => Object.fromEntries(requests.map(({ id }) => [id, true])),
        },
      )
    if (killAt !== undefined) await pass(killAt)
    const first = JSON.stringify(await pass())
    expect(JSON.stringify(await pass())).toBe(first)
    // The script numbers its answers, also the one that the kill has lost.
    return first.replaceAll(/"(response|msg)_\d+"/g, '"$1"')
  }
})

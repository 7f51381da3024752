import type { AgentResponse, MiddlewareInput } from '@lamella/core'
import {
  Agent,
  ProviderError,
  agentMiddleware,
  agentTool,
  chatMiddleware,
  explain,
  functionMiddleware,
  jsonSchema,
  tool,
} from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import {
  callFunction,
  describeContract,
  middlewareContract,
  runIn,
  runModes,
  scriptedClient,
  testClock,
} from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { bytes, memorySink } from './audit.test-helper.ts'
import { auditLog } from './audit-log.ts'
import type { AuditLogOptions } from './run/audit-options.ts'
import { contentDigest } from './run/captured-content.ts'
import { verify } from './verify/verify.ts'

const look = tool({
  name: 'look',
  description: 'Looks.',
  parameters: jsonSchema({ type: 'object' }),
  execute: () => 'result-word',
})
const pay = tool({
  name: 'pay',
  description: 'Pays.',
  parameters: jsonSchema({ type: 'object' }),
  approval: 'always',
  execute: () => 'paid',
})
const steps = () => [
  callFunction('look', { at: 'argument-word' }),
  { messages: 'answer-word', usage: { inputTokens: 9, outputTokens: 4 } },
]

describe.each(runModes)('an audit log, %s', (mode) => {
  const audited = async (
    options: Partial<AuditLogOptions> = {},
    given: {
      readonly steps?: Parameters<typeof scriptedClient>[0]
      readonly middlewares?: MiddlewareInput
    } = {},
  ) => {
    const sink = memorySink()
    const log = auditLog({ sinks: sink, clock: testClock(1_767_225_600_000), ...options })
    const client = scriptedClient(given.steps ?? steps(), { model: 'm1' })
    const agent = new Agent({
      name: 'helper',
      client,
      tools: [look, pay],
      instructions: 'instruction-word',
      middleware: [log, given.middlewares ?? []],
    })
    const session = agent.createSession({ id: 's1' })
    const run = { session, runId: 'r1', input: 'input-word', data: 'ada' }
    const response = await runIn(mode, agent, run).catch((error: unknown) => error)
    const types = () => sink.records.map(({ type }) => type)
    return { sink, agent, session, response: response as { status?: string }, types, log }
  }

  it('tells of a run from its start to its end', async () => {
    const { sink, log } = await audited({
      versions: { guardrail: '3' },
      subject: ({ run }) => `user:${String(run.data)}`,
    })

    const about = { run: 'r1', agent: 'helper', session: 's1', subject: 'user:ada', v: 1 }
    const time = '2026-01-01T00:00:00.000Z'
    expect(sink.records).toMatchObject([
      {
        ...about,
        time,
        type: 'run.start',
        seq: 1,
        messages: 1,
        streamed: mode === 'streamed',
        middlewares: { agent: ['audit'], chat: ['audit'], function: ['audit'] },
        versions: { guardrail: '3' },
      },
      {
        ...about,
        type: 'model.call',
        seq: 2,
        status: 'completed',
        provider: 'scripted',
        model: 'm1',
        iteration: 0,
        finishReason: 'tool-calls',
        calls: ['look'],
      },
      { ...about, type: 'tool.call', seq: 3, tool: 'look', callId: 'call_1' },
      { ...about, type: 'tool.result', seq: 4, status: 'completed', executed: true, elapsedMs: 0 },
      {
        ...about,
        type: 'model.call',
        seq: 5,
        iteration: 1,
        servedBy: 'scripted',
        usage: { inputTokens: 9, outputTokens: 4 },
      },
      { ...about, type: 'run.end', seq: 6, status: 'completed', elapsedMs: 0 },
    ])
    expect(sink.records.at(-1)?.['usage']).toMatchObject({
      inputTokens: expect.any(Number) as number,
    })
    expect(await verify(bytes(sink.text()))).toEqual({ ok: true, lines: 6, head: log.head })
  })

  it('holds no content unless it was asked for', async () => {
    const { sink } = await audited()

    expect(sink.text()).not.toContain('-word')
  })

  it('holds content in full where that was chosen', async () => {
    const full = 'full'
    const capture = {
      input: full,
      output: full,
      instructions: full,
      arguments: full,
      results: full,
    } as const
    const { sink } = await audited({ capture })

    const [start, , call, result, model, end] = sink.records
    expect(start).toMatchObject({
      instructions: 'instruction-word',
      input: [{ role: 'user', contents: [{ type: 'text', text: 'input-word' }] }],
    })
    expect(call).toMatchObject({ arguments: { at: 'argument-word' } })
    expect(result).toMatchObject({ result: 'result-word' })
    const answer = { role: 'assistant', contents: [{ type: 'text', text: 'answer-word' }] }
    expect(model).toMatchObject({ output: [answer] })
    expect(end).toMatchObject({ output: expect.arrayContaining([answer]) as unknown })
  })

  it('redacts every text where that was chosen, and leaves out what cannot be', async () => {
    const kinds = ['input', 'output', 'instructions', 'arguments', 'results'] as const
    const capture = Object.fromEntries(kinds.map((kind) => [kind, 'redacted'])) as never
    const redact = (text: string) => text.replaceAll(/\w+-word/g, '***')

    const clean = await audited({ capture, redact })
    const failed = await audited({
      capture,
      redact: () => {
        throw new Error('no')
      },
    })

    expect(clean.sink.text()).not.toContain('-word')
    expect(clean.sink.text()).toContain('***')
    expect(failed.sink.text()).not.toContain('-word')
  })

  it('lets an auditor show that a text was the one that was recorded', async () => {
    const content = [{ role: 'user', contents: [{ type: 'text', text: 'input-word' }] }]
    const salted = await audited()
    const keyed = await audited({ hashKey: (subject) => `key of ${subject}`, subject: () => 'ada' })

    const { salt } = salted.sink.records[0]!['input'] as { salt: string }
    expect(salted.sink.records[0]?.['input']).toEqual(contentDigest(content, { salt }))
    expect(keyed.sink.records[0]?.['input']).toEqual(contentDigest(content, { key: 'key of ada' }))
    expect(contentDigest('other', { salt })).not.toEqual(contentDigest(content, { salt }))
  })

  it('tells of a failure by its kind, and of its message only if asked', async () => {
    const busy = new ProviderError('message-word', { kind: 'overloaded', provider: 'scripted' })
    const { sink, types, response } = await audited({}, { steps: [busy] })
    const loud = await audited({ capture: { errors: 'full' } }, { steps: [busy] })

    expect(response).toBe(busy)
    expect(types()).toEqual(['run.start', 'model.call', 'run.error'])
    expect(sink.records.slice(1)).toMatchObject([
      { status: 'failed', error: 'overloaded' },
      { status: 'failed', error: 'overloaded' },
    ])
    expect(sink.text()).not.toContain('-word')
    expect(loud.sink.records.at(-1)?.['message']).toContain('message-word')
  })

  it('tells of a block, of the guardrail that did it and of its version', async () => {
    const judge = guardrail({
      name: 'guardrail-1',
      applyTo: ['output'],
      check: () => ({ action: 'block', category: 'words', message: 'message-word' }),
    })
    const { sink, types } = await audited(
      { versions: { 'guardrail-1': '1.4' } },
      { middlewares: judge, steps: ['answer-word'] },
    )

    expect(types()).toEqual(['run.start', 'decision', 'model.call', 'run.blocked'])
    const decision = {
      guardrail: 'guardrail-1',
      status: 'blocked',
      category: 'words',
      version: '1.4',
      type: 'guardrail',
    }
    expect(sink.records[1]).toMatchObject({ decision })
    expect(sink.records[3]).toMatchObject({
      block: { guardrail: 'guardrail-1', category: 'words' },
    })
    expect(sink.text()).not.toContain('-word')
  })

  it('tells of decisions of middlewares, and not of other events', async () => {
    const deciding = chatMiddleware('deciding', async ({ run }, callNext) => {
      run.emit({ type: 'cache', data: { status: 'miss', text: ['cached-word'] } })
      run.emit({ type: 'note', data: { text: 'note-word' } })
      await callNext()
    })
    const { sink } = await audited({}, { middlewares: deciding, steps: ['Done.'] })

    const decisions = sink.records.filter(({ type }) => type === 'decision')
    expect(decisions.map(({ decision }) => decision)).toEqual([{ type: 'cache', status: 'miss' }])
    expect(sink.text()).not.toContain('-word')
  })

  it('tells of middlewares that answer in place of a model or a tool', async () => {
    const short = [
      chatMiddleware('short', async (context, callNext) => {
        if (context.iteration === 1) context.result = 'Kept.'
        else await callNext()
      }),
      functionMiddleware('deny', async (context) => void (context.result = 'no')),
    ]
    const { sink } = await audited({}, { middlewares: short })

    expect(sink.records.find(({ type }) => type === 'tool.result')?.['executed']).toBe(false)
    const last = sink.records.findLast(({ type }) => type === 'model.call')
    expect(last?.['servedBy']).toBeUndefined()
    expect(last?.['usage']).toEqual({})
  })

  it.each([
    [true, { approved: true }],
    [
      { approved: true, arguments: { less: 1 } },
      { approved: true, edited: true },
    ],
    [{ approved: false, reason: 'reason-word' }, { approved: false }],
  ])('tells what was asked for and what was decided: %o', async (answer, decided) => {
    const { sink, agent, session, response, types } = await audited(
      {},
      { steps: [callFunction('pay', { sum: 'argument-word' }), 'Done.'] },
    )
    const paused = response as AgentResponse
    const { id } = paused.pending[0]!

    await agent.resume(paused.checkpoint!, { [id]: answer }, { session })

    expect(paused.status).toBe('paused')
    expect(types().slice(0, 4)).toEqual([
      'run.start',
      'model.call',
      'approval.requested',
      'run.end',
    ])
    expect(sink.records[2]).toMatchObject({ kind: 'approval', tool: 'pay', callId: 'call_1' })
    const decisions = sink.records.filter(({ type }) => type === 'approval.decided')
    expect(decisions).toMatchObject([{ tool: 'pay', callId: 'call_1', run: 'r1', ...decided }])
    expect(sink.text()).not.toContain(id)
    expect(sink.text()).not.toContain('-word')
  })

  it('tells of questions that middlewares ask', async () => {
    const ask = agentMiddleware('ask', ({ run }) => run.interrupt({ question: 'question-word' }))
    const { sink, types } = await audited({ capture: { arguments: 'full' } }, { middlewares: ask })

    expect(types()).toEqual(['run.start', 'approval.requested', 'run.end'])
    expect(sink.records[1]).toMatchObject({
      kind: 'interrupt',
      arguments: { question: 'question-word' },
    })
    expect(sink.records[2]).toMatchObject({ status: 'paused' })
  })

  it('tells of an abort', async () => {
    const sink = memorySink()
    const controller = new AbortController()
    const client = scriptedClient(async () => {
      controller.abort(new Error('gone'))
      await new Promise((resolve) => setImmediate(resolve))
      return 'Never.'
    })
    const log = auditLog({ sinks: sink })
    const run = runIn(mode, new Agent({ client, middleware: log }), { signal: controller.signal })
    await run.catch(() => {})
    await log.flush()

    expect(sink.records.at(-1)).toMatchObject({
      type: 'run.error',
      status: 'aborted',
      error: 'Error',
    })
  })

  it('leaves out what was not asked for', async () => {
    const { types } = await audited({ records: ['decision'] })

    expect(types()).toEqual(['run.start', 'run.end'])
  })

  it('keeps one chain through a thousand runs at the same time', async () => {
    const sink = memorySink()
    const log = auditLog({ sinks: sink })
    const client = scriptedClient(({ messages }) =>
      messages.length > 1 ? 'Done.' : callFunction('look'),
    )
    const agent = new Agent({ client, tools: [look], middleware: log })

    await Promise.all(Array.from({ length: 1000 }, () => runIn(mode, agent)))

    expect(await verify(bytes(sink.text()))).toMatchObject({ ok: true, lines: 6000 })
    const runs = new Map<unknown, unknown[]>()
    for (const { run, type } of sink.records) runs.set(run, [...(runs.get(run) ?? []), type])
    expect(runs.size).toBe(1000)
    const [first] = runs.values()
    expect(first).toHaveLength(6)
    for (const types of runs.values()) expect(types).toEqual(first)
    expect(Math.max(...sink.batches)).toBeGreaterThan(50)
  })
})

it('a sub-agent tells whose it is', async () => {
  const sink = memorySink()
  const log = auditLog({ sinks: sink })
  const inside = new Agent({ name: 'inside', client: scriptedClient(['Found.']), middleware: log })
  const client = scriptedClient([callFunction('inside', { task: 'Find.' }), 'Done.'])
  await new Agent({ name: 'outside', client, tools: [agentTool(inside)], middleware: log }).run(
    'Hi',
    { runId: 'r1' },
  )

  const starts = sink.records.filter(({ type }) => type === 'run.start')
  expect(starts.map(({ agent, parent }) => [agent, parent])).toEqual([
    ['outside', undefined],
    ['inside', 'r1'],
  ])
})

it('is no middleware where it is off, and has its place in the order', () => {
  expect([...auditLog({ sinks: memorySink(), mode: 'off' })]).toEqual([])
  const tracing = { ...agentMiddleware('t', (_, next) => next()), role: 'tracing' }
  const middleware = [tracing, auditLog({ sinks: memorySink() })]
  const { warnings } = explain(new Agent({ client: scriptedClient([]), middleware }), '')
  expect(warnings).toEqual(['agent: place audit before t, to record every call that t makes'])
})

const wrong: readonly (readonly [object, string])[] = [
  [{ sinks: [] }, 'auditLog: `sinks` must be at least one sink or function, got a list'],
  [{ sinks: 'file' }, 'auditLog: `sinks` must be at least one sink or function, got "file"'],
  [
    { capture: { input: 'some' } },
    'auditLog: `capture.input` must be one of none, hash, redacted, full',
  ],
  [{ capture: { input: 'redacted' } }, 'auditLog: `redact` must be a function, for capture.input'],
  [{ batchSize: 0 }, 'auditLog: `batchSize` must be a whole number from 1 up, got 0'],
  [{ onError: 'maybe' }, 'auditLog: `onError` must be one of open, closed, got "maybe"'],
  [{ delivery: 'later' }, 'auditLog: `delivery` must be one of await, batch, got "later"'],
  [{ records: ['all'] }, 'auditLog: `records` must be one of model, tool, approval, decision'],
  [
    { sign: { keyId: 'k', key: '' } },
    'auditLog: `sign` must have a `keyId`, and a `key` that can sign',
  ],
  [{ hashKey: '' }, 'auditLog: `hashKey` must not be empty'],
  [{ subject: 'ada' }, 'auditLog: `subject` must be a function, got "ada"'],
]

it.each(wrong)('wrong options throw and are named: %o', (options, message) => {
  expect(() => auditLog({ sinks: memorySink(), ...options })).toThrow(message)
})

describeContract(
  middlewareContract({
    create: ({ clock }) => auditLog({ sinks: memorySink(), clock }),
    createWithLimit: (ms) => auditLog({ sinks: memorySink(), delivery: 'await', waitMs: ms }),
    texts: ['Some other text.'],
  }),
  { describe, it },
)
describeContract(
  middlewareContract({
    name: 'contract, awaiting a sink that fails',
    create: ({ clock }) =>
      auditLog({ sinks: () => Promise.reject(new Error('full')), delivery: 'await', clock }),
  }),
  { describe, it },
)

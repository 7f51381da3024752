import type {
  AgentResponse,
  ChatResponseUpdate,
  FunctionInvocationContext,
  PendingRequest,
  RunEvent,
} from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  agentTool,
  explain,
  foldUpdates,
  jsonSchema,
  ProviderError,
  tool,
} from '@lamella/core'
import { budget } from '@lamella/middleware-budget'
import { retry } from '@lamella/middleware-retry'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { durable } from './durable.ts'
import type { DurableEngine } from './durable-engine.ts'
import { FakeWorkflow } from '../testing/fake-workflow.test-helper.ts'
import { runDurably } from '../run/run-durably.ts'

const busy = new ProviderError('busy', { kind: 'overloaded', provider: 'scripted' })
const refused = new ProviderError('no such model', {
  kind: 'not_found',
  provider: 'scripted',
  status: 404,
})

/** An agent whose tools note the keys that they get. */
function setUp(steps: Parameters<typeof scriptedClient>[0]) {
  const keys: unknown[] = []
  const note = tool({
    name: 'note',
    description: 'Notes.',
    parameters: jsonSchema({ type: 'object', properties: { fails: { type: 'boolean' } } }),
    execute: ({ fails }, { metadata }) => {
      keys.push(metadata['idempotencyKey'])
      if (fails === true) throw new RangeError('no paper')
      return { noted: keys.length }
    },
  })
  const client = scriptedClient(steps)
  return { client, note, keys, agent: new Agent({ client, tools: [note] }) }
}

/** A tool that adds another one. */
function openTool(more?: (context: FunctionInvocationContext) => void) {
  const extra = tool({ name: 'extra', description: 'Helps.', execute: () => 'helped' })
  const open = tool({
    name: 'open',
    description: 'Opens.',
    execute: (_, context) => {
      context.addTools(extra)
      more?.(context)
      return 'opened'
    },
  })
  return { extra, open }
}

function replay(workflow: FakeWorkflow, agent: Agent): Promise<AgentResponse | 'killed'> {
  return workflow.pass((engine) => runDurably(agent, 'Go.', engine))
}

describe('durable', () => {
  test('a second pass gives the same response, and makes no call', async () => {
    const { agent, client, keys } = setUp([[callFunction('note'), callFunction('note')], 'Done.'])
    const workflow = new FakeWorkflow()

    const first = await replay(workflow, agent)
    const second = await replay(workflow, agent)

    expect(first).toMatchObject({ text: 'Done.', usage: { totalTokens: 30 }, runId: 'workflow-1' })
    expect(JSON.parse(JSON.stringify(second))).toEqual(JSON.parse(JSON.stringify(first)))
    expect([client.requests.length, keys.length]).toEqual([2, 2])
  })

  test('a restored call tells its step and the process that made it', async () => {
    const { agent } = setUp([callFunction('note'), 'Done.'])
    const workflow = new FakeWorkflow()
    const told: unknown[] = []
    const onEvent = ({ type, data }: RunEvent): void => void (type === 'durable' && told.push(data))
    const pass = (process: string): Promise<unknown> =>
      workflow.pass((engine) => runDurably(agent, 'Go.', { ...engine, process }, { onEvent }))

    await pass('first')
    expect(told).toEqual([])
    await pass('second')

    expect(told).toEqual([
      { restored: 'model 0', by: 'first' },
      { restored: 'tool note call_1', by: 'first' },
      { restored: 'model 1', by: 'first' },
    ])
  })

  test('a restored call changes the tools of the run again', async () => {
    const { note } = setUp([])
    const { extra, open } = openTool((context) => context.removeTools('note'))
    const client = scriptedClient(({ messages }) =>
      messages.length === 1 ? callFunction('open', {}, 'call_1') : 'Done.',
    )
    const agent = new Agent({ client, tools: [open, note] })
    const workflow = new FakeWorkflow()
    const findTool = (name: string) => (name === 'extra' ? extra : undefined)
    const pass = (options = {}, killAt?: number): Promise<unknown> =>
      workflow.pass((engine) => runDurably(agent, 'Go.', engine, options), { killAt })

    await pass({}, 9)
    await expect(pass()).rejects.toMatchObject({
      code: 'unknown_tool',
      message: expect.stringContaining('"extra"') as string,
    })
    await pass({ findTool })

    const tools = client.requests.map(({ options }) => options.tools?.map(({ name }) => name))
    expect(tools).toEqual([
      ['open', 'note'],
      ['open', 'extra'],
    ])
  })

  test('a restored call of a sub-agent finds what its own middleware has added', async () => {
    const { extra, open } = openTool()
    const inner = scriptedClient(({ messages }) =>
      messages.length === 1 ? callFunction('open', {}, 'call_2') : 'Opened.',
    )
    const finder = {
      ...agentMiddleware('finder', (_, callNext) => callNext()),
      findTool: (name: string) => (name === 'extra' ? extra : undefined),
    }
    const helper = new Agent({ name: 'helper', client: inner, tools: [open], middleware: finder })
    const client = scriptedClient(({ messages }) =>
      messages.length === 1 ? callFunction('helper', { task: 'Open.' }, 'call_1') : 'Done.',
    )
    const agent = new Agent({ client, tools: [agentTool(helper)] })
    const workflow = new FakeWorkflow()
    const names = (): readonly string[] => workflow.steps.map((step) => step!.name)
    const pass = (killAt?: number): Promise<unknown> =>
      workflow.pass((engine) => runDurably(agent, 'Go.', engine), { killAt })

    await pass(13)
    expect(names().at(-1)).toBe('helper call_1/tool open call_2')
    await pass()

    const tools = inner.requests.map(({ options }) => options.tools?.map(({ name }) => name))
    expect(tools).toEqual([['open'], ['open', 'extra']])
  })

  test('steps have names that stay', async () => {
    const { agent } = setUp([callFunction('note'), 'Done.'])
    const workflow = new FakeWorkflow()

    await replay(workflow, agent)

    const names = workflow.steps.map((step) => step?.name)
    expect(names).toEqual(['begin', 'model 0', 'tool note call_1', 'model 1'])
  })

  test.each(runModes)('a restored answer is that of the model, with its data, %s', async (mode) => {
    const content = {
      type: 'reasoning',
      text: 'Hm.',
      providerData: { scripted: { seal: 'x' } },
    } as const
    const reply = {
      messages: [
        {
          role: 'assistant' as const,
          contents: [content, { type: 'text' as const, text: 'Yes.' }],
        },
      ],
    }
    const client = scriptedClient([{ ...reply, id: 'resp-7', model: 'm-1', finishReason: 'stop' }])
    const workflow = new FakeWorkflow()
    const run = (): Promise<unknown> =>
      workflow.pass((engine) => runIn(mode, new Agent({ client, middleware: durable(engine) })))

    const first = (await run()) as AgentResponse
    const second = (await run()) as AgentResponse

    const facts = ({ text, usage, id, model, finishReason, metadata, messages }: AgentResponse) =>
      JSON.parse(JSON.stringify({ text, usage, id, model, finishReason, metadata, messages }))
    expect(facts(second)).toEqual(facts(first))
    expect(facts(first)).toMatchObject({
      id: 'resp-7',
      model: 'm-1',
      messages: [{ contents: [content, {}] }],
    })
  })

  test('an answer streams while it is made, and whole when it is restored', async () => {
    const { client } = setUp(['One two three.'])
    const workflow = new FakeWorkflow()
    const read = (): Promise<unknown> =>
      workflow.pass(async (engine) => {
        const agent = new Agent({ client, middleware: durable(engine) })
        const updates: ChatResponseUpdate[] = []
        for await (const update of agent.run('Go.', { stream: true })) updates.push(update)
        return updates
      })

    const live = (await read()) as ChatResponseUpdate[]
    const restored = (await read()) as ChatResponseUpdate[]

    expect(live.length).toBeGreaterThan(restored.length)
    expect(foldUpdates(restored).text).toBe(foldUpdates(live).text)
  })

  test('what a tool throws is its result in every pass, and its message does not reach the model', async () => {
    const { agent, client } = setUp([callFunction('note', { fails: true }), 'Done.'])
    const workflow = new FakeWorkflow()

    const first = await replay(workflow, agent)
    const second = await replay(workflow, agent)

    expect(JSON.stringify(second)).toBe(JSON.stringify(first))
    const [result] = client.requests.at(-1)!.messages.at(-1)!.contents
    expect(result).toMatchObject({ contents: [{ text: 'Error: Function failed.' }] })
  })

  test('a tool gets the same key in every pass', async () => {
    const { agent, keys } = setUp([callFunction('note'), 'Done.'])
    const workflow = new FakeWorkflow()

    const at = { killAt: 8 }
    await workflow.pass((engine) => runDurably(agent, 'Go.', engine), at)
    await replay(workflow, agent)

    expect(keys).toEqual(Array(2).fill('workflow-1/note call_1'))
  })

  test('a sub-agent has steps of its own', async () => {
    const inner = scriptedClient([callFunction('note'), 'Helped.'], { idPrefix: 'inner-' })
    const { client, note } = setUp([
      [callFunction('helper', { task: 'Help.' }), callFunction('note')],
      'Done.',
    ])
    const helper = new Agent({ name: 'helper', client: inner, tools: [note] })
    const agent = new Agent({ client, tools: [agentTool(helper), note] })
    const workflow = new FakeWorkflow()

    const first = await replay(workflow, agent)
    const second = await replay(workflow, agent)

    expect(JSON.stringify(second)).toBe(JSON.stringify(first))
    expect(first).toMatchObject({ usage: { totalTokens: 60 } })
    expect(workflow.steps.map((step) => step?.name)).toEqual([
      'begin',
      'model 0',
      'helper call_1/model 0',
      'helper call_1/tool note inner-call_1',
      'helper call_1/model 1',
      'tool note call_2',
      'model 1',
    ])
  })

  test('a run inside of a tool is part of its step', async () => {
    const inner = new Agent({ client: scriptedClient(['Inside.']) })
    const ask = tool({
      name: 'ask',
      description: 'Asks.',
      execute: async (_, { run }) => (await inner.run('Say.', { parent: run })).text,
    })
    const agent = new Agent({
      client: scriptedClient([callFunction('ask'), 'Done.']),
      tools: [ask],
    })
    const workflow = new FakeWorkflow()

    await replay(workflow, agent)

    expect(workflow.steps.map((step) => step?.name)).toHaveLength(4)
  })

  test('the engine retries a failure that is worth it, and stores one that is not', async () => {
    const { agent, client } = setUp([busy, 'Done.'])
    const other = setUp([refused])
    const workflow = new FakeWorkflow()
    const fails = (): Promise<unknown> =>
      replay(workflow, other.agent).catch((error: unknown) => error)

    const done = await new FakeWorkflow().pass((engine) => runDurably(agent, 'Go.', engine), {
      tries: 2,
    })
    const errors = [await fails(), await fails()]

    expect(done).toMatchObject({ text: 'Done.' })
    expect(client.requests.map(({ options }) => options.transportRetries)).toEqual([0, 0])
    for (const error of errors) {
      expect(error).toMatchObject({ message: 'no such model', kind: 'not_found', status: 404 })
    }
    expect(other.client.requests).toHaveLength(1)
  })

  test('a failed call counts what it cost', async () => {
    const partial = foldUpdates([{ contents: [], usage: { inputTokens: 7, totalTokens: 7 } }])
    const cut = new ProviderError('blocked', {
      kind: 'content_filter',
      provider: 'scripted',
      partial,
    })
    const workflow = new FakeWorkflow()
    const { client } = setUp([cut])
    const usages: unknown[] = []
    const agent = (engine: DurableEngine): Agent =>
      new Agent({
        client,
        middleware: [
          {
            level: 'chat',
            name: 'count',
            process: async (context, callNext) => {
              await callNext().catch(() => usages.push(context.run.usage))
              context.result = 'Failed.'
            },
          },
          durable(engine),
        ],
      })

    await workflow.pass((engine) => agent(engine).run('Go.'))
    await workflow.pass((engine) => agent(engine).run('Go.'))

    const usage = { inputTokens: 7, totalTokens: 7 }
    expect(usages).toEqual([usage, usage])
  })

  test('a restored call counts for a budget', async () => {
    const { client, note } = setUp([callFunction('note'), 'Done.'])
    const middleware = budget({ limits: { modelCalls: 1 } })
    const agent = new Agent({ client, tools: [note], middleware })
    const workflow = new FakeWorkflow()

    const first = await replay(workflow, agent)
    const second = await replay(workflow, agent)

    expect(first).toMatchObject({ status: 'budget_exhausted' })
    expect(JSON.stringify(second)).toBe(JSON.stringify(first))
  })

  test('only the named tools are steps, and no model call if models are not', async () => {
    const { agent, keys } = setUp([callFunction('note'), 'Done.'])
    const workflow = new FakeWorkflow()

    await workflow.pass((engine) =>
      runDurably(agent, 'Go.', { ...engine, models: false, tools: ['other'] }),
    )

    expect(workflow.steps.map((step) => step?.name)).toEqual(['begin'])
    expect(keys).toHaveLength(1)
  })

  test('a pause is not stored: without `wait` the run ends as paused, and asks again in a later pass', async () => {
    let asked = 0
    const ask = tool({
      name: 'ask',
      description: 'Asks.',
      execute: async (_, { run }) => {
        asked++
        return run.interrupt('Which one?')
      },
    })
    const agent = new Agent({
      client: scriptedClient([callFunction('ask'), 'Done.']),
      tools: [ask],
    })
    const workflow = new FakeWorkflow()

    const first = await replay(workflow, agent)
    const second = await replay(workflow, agent)

    expect(first).toMatchObject({ status: 'paused', pending: [{ payload: 'Which one?' }] })
    expect(JSON.stringify(second)).toBe(JSON.stringify(first))
    expect(asked).toBe(2)
  })

  test('with `wait`, approvals and questions are answered in the engine', async () => {
    let paid = 0
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      approval: 'always',
      execute: () => ++paid,
    })
    const ask = tool({
      name: 'ask',
      description: 'Asks.',
      execute: (_, { run }) => run.interrupt('Which one?'),
    })
    const client = scriptedClient([[callFunction('pay'), callFunction('ask')], 'Done.'])
    const agent = new Agent({ client, tools: [pay, ask] })
    const workflow = new FakeWorkflow()
    const run = (): Promise<AgentResponse | 'killed'> =>
      workflow.pass((engine) => runDurably(agent, 'Go.', engine), {
        answer: (requests) =>
          Object.fromEntries(requests.map(({ id, kind }) => [id, kind === 'approval' || 'red'])),
      })

    const first = await run()
    const second = await run()

    expect(first).toMatchObject({ status: 'completed', text: 'Done.', usage: { totalTokens: 30 } })
    expect(JSON.stringify(second)).toBe(JSON.stringify(first))
    expect(paid).toBe(1)
    expect(JSON.stringify(client.requests.at(-1)!.messages)).toContain('red')
  })

  test('requests wait in the same order in every pass, whichever comes first', async () => {
    let pass = 0
    const ask = tool({
      name: 'ask',
      description: 'Asks.',
      parameters: jsonSchema({ type: 'object', properties: { at: { type: 'number' } } }),
      execute: async ({ at }, { run }) => {
        if (at === pass) await new Promise((resolve) => setImmediate(resolve))
        return run.interrupt(`Which one for ${String(at)}?`)
      },
    })
    const calls = [0, 1].map((at) => callFunction('ask', { at }))
    const agent = new Agent({ client: scriptedClient([calls, 'Done.']), tools: [ask] })
    const workflow = new FakeWorkflow()
    const waits: string[][] = []
    const run = (): Promise<AgentResponse | 'killed'> => {
      const waiting: string[] = []
      waits.push(waiting)
      return workflow.pass(
        (engine) => {
          const wait: DurableEngine['wait'] = (requests) => {
            waiting.push(...requests.map(({ id }) => id))
            return engine.wait!(requests)
          }
          return runDurably(agent, 'Go.', { ...engine, wait })
        },
        {
          killAt: pass === 0 ? 18 : undefined,
          answer: ([request]) => ({ [request!.id]: 'red' }),
        },
      )
    }

    const first = await run()
    pass = 1
    const second = await run()

    expect([first, second]).toMatchObject(['killed', { text: 'Done.' }])
    expect(waits[1]).toHaveLength(2)
    expect(waits[1]).toEqual(waits[0])
  })

  test('a wait between steps is one of the engine, and a limit of a call of a store is not', async () => {
    const approved = tool({
      name: 'pay',
      description: 'Pays.',
      approval: 'always',
      execute: () => 1,
    })
    const agent = new Agent({
      client: scriptedClient([callFunction('pay'), 'Done.']),
      tools: [approved],
      middleware: agentMiddleware('slow', async ({ run }, callNext) => {
        await run.clock.sleep(86_400_000)
        return callNext()
      }),
    })
    const waits: number[] = []
    const sleep = async (ms: number): Promise<void> => void waits.push(ms)
    const answer = (requests: readonly PendingRequest[]) => ({ [requests[0]!.id]: true })

    const response = await new FakeWorkflow().pass(
      (engine) => runDurably(agent, 'Go.', { ...engine, sleep }),
      { answer },
    )

    expect(response).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(new Set(waits)).toEqual(new Set([86_400_000]))
  })

  test('a workflow of other code is refused', async () => {
    const workflow = new FakeWorkflow()
    const before = setUp([callFunction('note'), 'Done.'])
    await replay(workflow, before.agent)

    const without = new Agent({ client: before.client })

    await expect(replay(workflow, without)).rejects.toMatchObject({
      code: 'workflow_changed',
      message: expect.stringContaining('step 2 is "tool note call_1" and not "model 1"') as string,
    })
  })

  test('explain() warns beside retry()', () => {
    const step = async <Value>(_: string, work: () => Promise<Value>): Promise<Value> => work()
    const middleware = [durable({ step }), retry()]

    const { warnings } = explain(new Agent({ client: scriptedClient([]), middleware }), 'Go.')

    expect(warnings).toEqual([expect.stringContaining('the engine retries') as string])
    expect(
      explain(new Agent({ client: scriptedClient([]), middleware: middleware[0]! }), 'Go.')
        .warnings,
    ).toEqual([])
  })

  test.each([
    [{}, 'step', 'undefined'],
    [{ step: () => {}, tools: 'some' }, 'tools', '"some"'],
    [{ step: () => {}, models: 1 }, 'models', '1'],
    [{ step: () => {}, wait: 5 }, 'wait', '5'],
  ])('refuses %o', (options, name, value) => {
    const make = (): unknown => durable(options as never)

    expect(make).toThrow(name)
    expect(make).toThrow(value)
  })
})

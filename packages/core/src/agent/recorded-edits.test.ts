import { lifecycle } from '@lamella/lifecycle'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type {
  AgentContext,
  AgentOptions,
  Checkpoint,
  Message,
  Middleware,
  MiddlewareInput,
  RunOptions,
  Tool,
} from '../index.ts'
import {
  Agent,
  agentMiddleware,
  agentTool,
  createSession,
  defineState,
  functionMiddleware,
  jsonSchema,
  message,
  messageText,
  tool,
} from '../index.ts'
import { matchResults } from '../messages/match-results.ts'
import { resumeIn } from '../pausing/resume-in.test-helper.ts'

const note = { ...message('user', 'Likes tea'), id: 'note' }
const drop = tool({ name: 'drop', description: '', execute: () => 'dropped' })

/** Edits of each kind, each of which would show if it were made twice, or forgotten. */
function editAll(context: AgentContext): void {
  context.run.messages.rewrite((messages) => [note, ...messages])
  context.instructions = `${context.instructions} Kindly.`
  context.options = { ...context.options, temperature: (context.options.temperature ?? 0) + 1 }
  context.tools = context.tools.filter(({ name }) => name !== 'drop')
  context.run.allowIterations(1)
}

const ways: readonly [string, (seen: boolean[]) => MiddlewareInput][] = [
  ['beforeTurn', () => lifecycle({ name: 'edit', beforeTurn: editAll })],
  [
    'an agent middleware',
    (seen) =>
      agentMiddleware('edit', async (context, callNext) => {
        seen.push(context.resumed)
        editAll(context)
        await callNext()
      }),
  ],
]

/** A tool that waits for approval, and counts how often it has run. */
function deployTool() {
  let count = 0
  const execute = (): string => `deployed ${++count}`
  const deploy = tool({ name: 'deploy', description: '', approval: 'always', execute })
  return { deploy, deployed: () => count }
}

describe.each(runModes)('what is edited before a run, %s', (mode) => {
  const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
  const work = tool({ name: 'work', description: '', execute: () => 'done' })
  const call = callFunction('work', {}, 'c')

  it.each(ways)('by %s is recorded: after a pause it holds, and is made once', async (_, make) => {
    const seen: boolean[] = []
    const client = scriptedClient([callFunction('pay', {}, 'c'), call, call, 'Done.'])
    const agent = new Agent({
      client,
      instructions: 'Answer.',
      tools: [pay, work, drop],
      middleware: make(seen),
      functionInvocation: { maxIterations: 2 },
    })
    const session = createSession()

    const { checkpoint, pending } = await runIn(mode, agent, { session })
    const answers = { [pending[0]!.id]: true }
    const last = await resumeIn(mode, agent, checkpoint!, answers, { session })

    expect(last.status).toBe('max_iterations')
    expect(client.requests).toHaveLength(4)
    for (const { messages, options, instructions } of client.requests.slice(0, 3)) {
      expect(messages.filter(({ id }) => id === 'note')).toHaveLength(1)
      expect([instructions, options.temperature]).toEqual(['Answer. Kindly.', 1])
      expect(options.tools?.map(({ name }) => name)).toEqual(['pay', 'work'])
    }
    expect(session.messages.filter(({ id }) => id === 'note')).toHaveLength(1)
    expect(seen.length === 0 ? [false, true] : seen).toEqual([false, true])
  })

  it('is recorded with the first step, too', async () => {
    let turns = 0
    const beforeTurn = (context: AgentContext): void => {
      turns++
      editAll(context)
    }
    const client = scriptedClient([call, new TypeError('down'), 'Done.'])
    const middleware = lifecycle({ name: 'edit', beforeTurn })
    const agent = new Agent({ client, tools: [work], middleware })
    const kept: Checkpoint[] = []

    const onCheckpoint = (checkpoint: Checkpoint): void => void kept.push(checkpoint)
    await expect(runIn(mode, agent, { onCheckpoint })).rejects.toThrow('down')
    await resumeIn(mode, agent, kept.at(-1)!)

    const { messages, options } = client.requests[2]!
    expect(messages.filter(({ id }) => id === 'note')).toHaveLength(1)
    expect([turns, options.temperature]).toEqual([1, 1])
  })

  it('stays where a middleware of a resumed run edits and runs the inside again', async () => {
    const again = agentMiddleware('again', async (context, callNext) => {
      const { status } = await callNext()
      if (status === 'paused') return
      context.instructions = 'Again.'
      context.run.messages.rewrite((messages) => [...messages, message('user', 'Sure?')])
      await callNext()
    })
    const client = scriptedClient([callFunction('pay', {}, 'c'), 'Done.', 'Sure.'])
    const middleware = [again, ways[0]![1]([])]
    const agent = new Agent({ client, tools: [pay], middleware, instructions: 'Answer.' })

    const { checkpoint, pending } = await runIn(mode, agent)
    await resumeIn(mode, agent, checkpoint!, { [pending[0]!.id]: true })

    const { messages, instructions, options } = client.requests[2]!
    expect(messages.map(messageText).filter(Boolean)).toEqual(['Likes tea', 'Hello', 'Sure?'])
    expect([instructions, options.temperature]).toEqual(['Again.', 1])
  })

  it.each(ways)(
    'by %s is recorded where a middleware further inside asks before the loop',
    async (_, make) => {
      const seen: boolean[] = []
      const asked: boolean[] = []
      const ask = agentMiddleware('ask', async (context, callNext) => {
        asked.push(context.resumed)
        const answer = await context.run.interrupt('Sure?')
        context.instructions = `${context.instructions} ${String(answer)}`
        await callNext()
      })
      const client = scriptedClient([call, call, 'Done.'])
      const agent = new Agent({
        client,
        instructions: 'Answer.',
        tools: [work, drop],
        middleware: [make(seen), ask],
        functionInvocation: { maxIterations: 1 },
      })
      const session = createSession({ messages: [message('user', 'Old.')] })

      const { checkpoint, pending } = await runIn(mode, agent, { session })
      const answers = { [pending[0]!.id]: 'yes' }
      const { status } = await resumeIn(mode, agent, checkpoint!, answers, { session })

      expect(status).toBe('max_iterations')
      expect(client.requests).toHaveLength(3)
      for (const { messages, options, instructions } of client.requests.slice(0, 2)) {
        expect(messages.filter(({ id }) => id === 'note')).toHaveLength(1)
        expect([instructions, options.temperature]).toEqual(['Answer. Kindly. yes', 1])
        expect(options.tools?.map(({ name }) => name)).toEqual(['work'])
      }
      expect(session.messages.filter(({ id }) => id === 'note')).toHaveLength(1)
      expect([seen, asked]).toEqual([seen.length === 0 ? [] : [false, true], [false, false]])
    },
  )

  it('keeps the state of a run that asks before its loop', async () => {
    const schema = jsonSchema<number>({ type: 'number' })
    const turns = defineState({ name: 'turns', initial: () => 0, schema })
    let counted = 0
    const agent = new Agent({
      client: scriptedClient(['Done.']),
      middleware: [
        lifecycle({
          name: 'count',
          beforeTurn: ({ run }) => void run.state.update(turns, (count) => count + 1),
          afterTurn: ({ run }) => void (counted = run.state.get(turns)),
        }),
        agentMiddleware('ask', async ({ run }, callNext) => {
          await run.interrupt('One?')
          await run.interrupt('Two?')
          await callNext()
        }),
      ],
    })

    let response = await runIn(mode, agent)
    while (response.status === 'paused') {
      const answers = { [response.pending[0]!.id]: 'yes' }
      // oxlint-disable-next-line no-await-in-loop
      response = await resumeIn(mode, agent, response.checkpoint!, answers)
    }

    expect([response.status, counted]).toEqual(['completed', 1])
  })

  it('is made again by the inside of an outer middleware that runs it again after such a pause', async () => {
    let isAsked = false
    const again = agentMiddleware('again', async (_, callNext) => {
      await callNext()
      await callNext()
    })
    const ask = agentMiddleware('ask', async ({ run }, callNext) => {
      isAsked ||= (await run.interrupt('Sure?')) === 'yes'
      await callNext()
    })
    const client = scriptedClient(['One.', 'Two.'])
    const middleware = [again, ways[0]![1]([]), ask]
    const agent = new Agent({ client, tools: [drop], middleware, instructions: 'Answer.' })

    const { checkpoint, pending } = await runIn(mode, agent)
    await resumeIn(mode, agent, checkpoint!, { [pending[0]!.id]: 'yes' })

    for (const { messages, options, instructions } of client.requests) {
      expect(messages.filter(({ id }) => id === 'note')).toHaveLength(1)
      expect([instructions, options.temperature]).toEqual(['Answer. Kindly.', 1])
      expect(options.tools ?? []).toEqual([])
    }
    expect([client.requests.length, isAsked]).toEqual([2, true])
  })
})

describe.each(runModes)('a tool that a run has added before a pause, %s', (mode) => {
  function setUp() {
    const { deploy, deployed } = deployTool()
    const login = tool({
      name: 'login',
      description: '',
      execute: (_, context) => (context.addTools(deploy), 'in'),
    })
    const client = scriptedClient([callFunction('login'), callFunction('deploy'), 'Done.'])
    const agent = new Agent({ client, tools: [login] })
    return { agent, client, deploy, deployed }
  }

  it.each<[string, (deploy: ReturnType<typeof setUp>['deploy']) => RunOptions]>([
    ['findTool', (deploy) => ({ findTool: (name) => (name === 'deploy' ? deploy : undefined) })],
    ['tools', (deploy) => ({ tools: [deploy] })],
  ])('is found by its name through `%s`', async (_, find) => {
    const { agent, client, deploy, deployed } = setUp()
    const { checkpoint, pending } = await runIn(mode, agent)
    const answers = { [pending[0]!.id]: true }

    const missing = resumeIn(mode, agent, checkpoint!, answers)
    await expect(missing).rejects.toMatchObject({ code: 'unknown_tool' })
    const { text } = await resumeIn(mode, agent, checkpoint!, answers, find(deploy))

    expect([text, deployed()]).toEqual(['Done.', 1])
    expect(client.requests[2]!.options.tools?.map(({ name }) => name)).toEqual(['login', 'deploy'])
  })

  it('is missed before the approval of its call is used', async () => {
    const { agent, deploy, deployed } = setUp()
    const session = createSession()
    const { pending } = await runIn(mode, agent, { session })
    const answers = { [pending[0]!.id]: true }

    const missing = agent.run([], { session, answers })
    await expect(missing).rejects.toMatchObject({ code: 'unknown_tool' })
    const { status } = await agent.run([], { session, answers, tools: [deploy] })

    expect([status, deployed()]).toEqual(['completed', 1])
  })
})

describe.each(runModes)('a session that was compacted while a checkpoint waited, %s', (mode) => {
  const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })

  async function setUp(compact: (messages: readonly Message[]) => readonly Message[]) {
    const client = scriptedClient(['One.', callFunction('pay'), 'Hello.', 'Done.'])
    let isLate = false
    const rewrite = agentMiddleware('compact', async ({ run }, callNext) => {
      if (isLate) run.messages.rewrite(compact)
      await callNext()
    })
    const agent = new Agent({ client, tools: [pay], middleware: rewrite })
    const session = createSession()
    await runIn(mode, agent, { input: 'First.', session })
    const { checkpoint, pending } = await runIn(mode, agent, { input: 'Pay.', session })
    isLate = true
    await runIn(mode, agent, { input: 'Hi.', session })
    isLate = false
    await resumeIn(mode, agent, checkpoint!, { [pending[0]!.id]: true }, { session })
    return session.messages.map((entry) => messageText(entry) || entry.contents[0]!.type)
  }

  it('stays as it is when the checkpoint is resumed', async () => {
    const summary = message('user', 'Summary.')
    const texts = await setUp((all) => [summary, ...all.slice(2)])

    expect(texts).toEqual([
      'Summary.',
      'Pay.',
      'function-call',
      'function-result',
      'Hi.',
      'Hello.',
      'Done.',
    ])
  })

  it('gets the call back with its result if that was removed as well', async () => {
    const texts = await setUp((all) => all.slice(-1))

    expect(texts.filter((text) => text === 'function-call')).toHaveLength(1)
    expect(texts.filter((text) => text === 'function-result')).toHaveLength(1)
    expect(texts).not.toContain('First.')
  })
})

describe.each(runModes)(
  'a session that gets a result while a run continues from a step, %s',
  (mode) => {
    it('has it behind its call, before the input of the run', async () => {
      const call = { type: 'function-call', callId: 'c', name: 'ask', arguments: '{}' } as const
      const before = { messages: [message('user', 'Ask.'), message('assistant', call)] }
      const client = scriptedClient([callFunction('work'), new TypeError('down'), 'Done.'])
      const work = tool({ name: 'work', description: '', execute: () => 'done' })
      const kept: Checkpoint[] = []
      const onCheckpoint = (checkpoint: Checkpoint): void => void kept.push(checkpoint)
      const crash = runIn(mode, new Agent({ client, tools: [work] }), {
        session: createSession({ id: 's', ...before }),
        onCheckpoint,
      })
      await expect(crash).rejects.toThrow('down')

      const cancelled = { type: 'function-result', callId: 'c', name: 'ask', contents: [] } as const
      const patch = agentMiddleware('patch', async (context, callNext) => {
        const all = context.session!.messages
        context.session!.messages = [...all, message('tool', cancelled)]
        await callNext()
      })
      const session = createSession({ id: 's', ...before })
      const agent = new Agent({ client, tools: [work], middleware: patch })
      await resumeIn(mode, agent, kept.at(-1)!, {}, { session })

      expect(session.messages.map(({ role }) => role).slice(0, 4)).toEqual([
        'user',
        'assistant',
        'tool',
        'user',
      ])
    })

    it('has that of the run in its place, also where the run fails later', async () => {
      const ask = tool({
        name: 'ask',
        description: '',
        execute: async (_, { run }) => `said ${String(await run.interrupt('Which?'))}`,
      })
      const broken = functionMiddleware('broken', async (_, callNext) => {
        await callNext()
        throw new TypeError('broken')
      })
      const client = scriptedClient([callFunction('ask', {}, 'c'), 'Hello.'])
      const session = createSession()
      const first = new Agent({ client, tools: [ask] })
      const { checkpoint, pending } = await runIn(mode, first, { session })
      const cancelled = { type: 'function-result', callId: 'c', name: 'ask', contents: [] } as const
      session.messages = [...session.messages, message('tool', cancelled)]
      await runIn(mode, first, { session, input: 'Hi.' })

      const agent = new Agent({ client, tools: [ask], middleware: broken })
      const answers = { [pending[0]!.id]: 'tea' }
      const failing = resumeIn(mode, agent, checkpoint!, answers, { session })
      await expect(failing).rejects.toThrow('broken')

      const found = [...matchResults(session.messages).results.values()].flat()
      expect(found).toMatchObject([{ error: { code: 'withheld' } }])
    })
  },
)

describe.each(runModes)('a tool that a sub-agent needs after a pause, %s', (mode) => {
  const helperWith = (depth: number, ...tools: readonly Tool[]): Agent => {
    const call = callFunction(depth === 0 ? 'pay' : `helper${depth - 1}`, { task: 'Pay.' })
    const client = scriptedClient(({ messages }) =>
      messages.at(-1)!.role === 'tool' ? 'Done.' : [call],
    )
    const own = depth === 0 ? tools : [agentTool(helperWith(depth - 1, ...tools))]
    return new Agent({ name: `helper${depth}`, client, tools: own })
  }

  it.each([1, 2])('is missed before its approval is used, %i deep', async (depth) => {
    let paid = 0
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => ++paid })
    const { checkpoint, pending } = await runIn(mode, helperWith(depth, pay))
    const answers = { [pending[0]!.id]: true }

    const missing = resumeIn(mode, helperWith(depth), checkpoint!, answers)
    await expect(missing).rejects.toMatchObject({ code: 'unknown_tool', outcome: { pending } })
    const ended = await resumeIn(mode, helperWith(depth, pay), checkpoint!, answers)

    expect([ended.status, paid]).toEqual(['completed', 1])
  })

  it.each<[string, (deploy: Tool) => Partial<AgentOptions>]>([
    ['a tool', () => ({})],
    [
      'function middleware',
      (deploy) => ({
        middleware: functionMiddleware('add', async ({ run }, callNext) => {
          await callNext()
          run.tools.add(deploy)
        }),
      }),
    ],
  ])('and that %s had added is missed, too, or found by its name', async (how, more) => {
    const { deploy, deployed } = deployTool()
    const login = tool({
      name: 'login',
      description: '',
      execute: (_, context) => void (how === 'a tool' && context.addTools(deploy)),
    })
    const process = (findInside?: RunOptions['findTool']): Agent => {
      const client = scriptedClient(({ messages }) => {
        const results = messages.filter(({ role }) => role === 'tool').length
        return [callFunction('login'), callFunction('deploy'), 'Done.'].at(results)!
      })
      const finder = {
        ...agentMiddleware('finds', (_, callNext) => callNext()),
        findTool: findInside,
      }
      const { middleware = [] } = more(deploy)
      const given = findInside === undefined ? [middleware] : [middleware, finder as Middleware]
      const inner = new Agent({ name: 'inner', client, tools: [login], middleware: given })
      const outer = scriptedClient(({ messages }) =>
        messages.at(-1)!.role === 'tool' ? 'Done.' : [callFunction('inner', { task: 'Go.' })],
      )
      return new Agent({ client: outer, tools: [agentTool(inner)] })
    }
    const findTool = (name: string): Tool | undefined => (name === 'deploy' ? deploy : undefined)
    const ends: unknown[] = []
    for (const isInside of [true, false]) {
      // oxlint-disable-next-line no-await-in-loop
      const { checkpoint, pending } = await runIn(mode, process())
      const answers = { [pending[0]!.id]: true }

      const missing = resumeIn(mode, process(), checkpoint!, answers)
      // oxlint-disable-next-line no-await-in-loop
      await expect(missing).rejects.toMatchObject({ code: 'unknown_tool', outcome: { pending } })
      const found = isInside ? {} : { findTool }
      const agent = process(isInside ? findTool : undefined)
      // oxlint-disable-next-line no-await-in-loop
      ends.push((await resumeIn(mode, agent, checkpoint!, answers, found)).status)
    }

    expect([ends, deployed()]).toEqual([['completed', 'completed'], 2])
  })

  it('is not missed where its call was rejected', async () => {
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
    const { checkpoint, pending } = await runIn(mode, helperWith(1, pay))

    const { status } = await resumeIn(mode, helperWith(1), checkpoint!, { [pending[0]!.id]: false })

    expect(status).toBe('completed')
  })
})

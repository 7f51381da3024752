import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentOptions, RunContext } from '../index.ts'
import type { AgentToolOptions } from './agent-tool.ts'
import {
  Agent,
  agentMiddleware,
  agentTool,
  chatMiddleware,
  createSession,
  functionMiddleware,
  GuardrailTripped,
  tool,
} from '../index.ts'
import {
  failureOf,
  modes,
  outline,
  play,
  playOn,
  resultsOf,
} from '../loop/loop-invariant.test-helper.ts'
import { shouting } from '../stream/shouting.test-helper.ts'

const client = (steps: readonly ScriptedStep[]) => scriptedClient(steps)

describe('agentTool', () => {
  it('names the tool after the agent, as providers allow, with one argument', () => {
    const agent = new Agent({
      client: client([]),
      name: 'Web search, v2',
      description: 'Searches.',
    })

    expect(agentTool(agent)).toMatchObject({
      name: 'Web_search__v2',
      description: 'Searches.',
      approval: 'never',
      jsonSchema: {
        properties: { task: { type: 'string' } },
        required: ['task'],
        additionalProperties: false,
      },
    })
  })

  it('takes other names, words and policies', () => {
    const agent = new Agent({ client: client([]) })
    const options = {
      name: 'ask',
      description: 'Asks.',
      argument: 'question',
      argumentDescription: 'What?',
      approval: 'always',
    } as const

    expect(agentTool(agent, options)).toMatchObject({
      name: 'ask',
      description: 'Asks.',
      approval: 'always',
      jsonSchema: { properties: { question: { type: 'string', description: 'What?' } } },
    })
  })

  it('must be named if the agent is not', () => {
    expect(() => agentTool(new Agent({ client: client([]) }))).toThrow('agentTool: `name`')
  })
})

describe.each(modes)('an agent as a tool, $name', ({ stream }) => {
  function make(
    inner: readonly ScriptedStep[],
    options: Partial<AgentOptions> = {},
    toolOptions: AgentToolOptions = {},
  ) {
    const innerClient = client(inner)
    const sub = new Agent({ client: innerClient, name: 'sub', ...options })
    const outerClient = client([callFunction('sub', { task: 'Look it up.' }, 'c1'), 'All done.'])
    return {
      sub,
      innerClient,
      outerClient,
      agent: new Agent({ client: outerClient, tools: [agentTool(sub, toolOptions)] }),
    }
  }

  it('its answer is the result, and its usage counts', async () => {
    const { agent, innerClient } = make(['Found.'])

    const { response } = await play(agent, 'Go', { stream })

    expect(outline(innerClient.requests[0]!.messages)).toEqual(['user: Look it up.'])
    expect(outline(response.messages)[1]).toBe('tool: c1 = Found.')
    expect(response.usage.totalTokens).toBe(45)
  })

  it('counts for its caller while it is running', async () => {
    const seen: unknown[] = []
    const look = agentMiddleware('look', async ({ run }, callNext) => {
      await callNext()
      seen.push(run.usage.totalTokens, run.parent?.usage.totalTokens)
    })
    const { agent } = make(['Found.'], { middleware: look })

    await play(agent, 'Go', { stream })

    expect(seen).toEqual([15, 30])
  })

  it("runs with the caller's data, as a child of its run", async () => {
    const seen: RunContext[] = []
    const look = agentMiddleware('look', async ({ run }, callNext) => {
      seen.push(run)
      await callNext()
    })
    const { agent } = make(['Found.'], { middleware: look })

    const { response } = await play(agent, 'Go', { data: { user: 'u1' }, stream })

    expect(seen[0]).toMatchObject({
      data: { user: 'u1' },
      depth: 1,
      agentName: 'sub',
      session: undefined,
    })
    expect(seen[0]!.parent?.id).toBe(response.runId)
    expect(seen[0]!.parent?.depth).toBe(0)
  })

  it('reaches through two levels, and gets what a function middleware made of the data', async () => {
    const seen: unknown[] = []
    const inner = new Agent({
      client: client(['Deep.']),
      name: 'inner',
      middleware: agentMiddleware('look', async ({ run }, callNext) => {
        seen.push(run.depth, run.data)
        await callNext()
      }),
    })
    const middle = new Agent({
      client: client([callFunction('inner', { task: 'x' }, 'c1'), 'Middle.']),
      name: 'middle',
      tools: [agentTool(inner)],
    })
    const outer = new Agent({
      client: client([callFunction('middle', { task: 'y' }, 'c1'), 'Outer.']),
      tools: [agentTool(middle)],
      middleware: functionMiddleware('data', async (context, callNext) => {
        context.data = { ...(context.data as object), more: true }
        await callNext()
      }),
    })

    const { response } = await play(outer, 'Go', { data: { user: 1 }, stream })

    expect(seen).toEqual([2, { user: 1, more: true }])
    expect(response.text).toBe('Outer.')
  })

  it('parallel calls of it do not meet', async () => {
    const sub = new Agent({
      client: scriptedClient(({ messages }) => `re: ${outline(messages)[0]}`),
      name: 'sub',
    })
    const calls = ['a', 'b'].map((task, index) => callFunction('sub', { task }, `c${index}`))
    const agent = new Agent({ client: client([calls, 'Done.']), tools: [agentTool(sub)] })

    const { response } = await play(agent, 'Go', { stream })

    expect(outline(response.messages)[1]).toBe('tool: c0 = re: user: a, c1 = re: user: b')
  })

  it.each([
    ['sync', (seen: string[]) => (text: string) => void seen.push(text)],
    [
      'async',
      (seen: string[]) => async (text: string) => void seen.push(await Promise.resolve(text)),
    ],
  ])('its updates can be seen by a %s callback, after its middlewares', async (_, makeCallback) => {
    const seen: string[] = []
    const see = makeCallback(seen)
    const shout = chatMiddleware('shout', async (context, callNext) => {
      context.transformUpdates(shouting)
      await callNext()
    })
    const { agent } = make(
      ['Found it.'],
      { middleware: shout },
      {
        onUpdate: ({ contents }) =>
          see(contents.map((part) => (part.type === 'text' ? part.text : '')).join('')),
      },
    )

    const { response } = await play(agent, 'Go', { stream })

    expect(seen.join('')).toBe('FOUND IT.')
    expect(outline(response.messages)[1]).toBe('tool: c1 = FOUND IT.')
  })

  it('has a session of its own by default; with `shareSession` it has the state, and no messages', async () => {
    const session = createSession({ state: { count: 1 } })
    const seen: unknown[] = []
    const look = agentMiddleware('look', async (context, callNext) => {
      const { messages, state } = context.session ?? {}
      seen.push({ messages: messages?.length, state })
      if (state !== undefined) state['count'] = 2
      await callNext()
    })
    const own = make(['Found.'], { middleware: look })
    const shared = make(['Found.'], { middleware: look }, { shareSession: true })

    await play(own.agent, 'Go', { session, stream })
    await play(shared.agent, 'Go', { session, stream })

    expect(seen).toEqual([
      { messages: undefined, state: undefined },
      { messages: 0, state: { count: 2 } },
    ])
    expect(session.state).toEqual({ count: 2 })
    expect(outline(session.messages).filter((line) => line.startsWith('user'))).toEqual([
      'user: Go',
      'user: Go',
    ])
  })

  it('that fails is an error result, and what it cost counts', async () => {
    const { agent } = make([callFunction('ghost', {}, 'x1'), new Error('down')])

    const { response } = await play(agent, 'Go', { stream })

    expect(resultsOf(response.messages)[0]!.error).toMatchObject({
      code: 'tool_failed',
      message: 'down',
    })
    expect(response.usage.totalTokens).toBe(45)
  })

  it('that a guardrail blocks says only what the user may read', async () => {
    const block = {
      guardrail: 'g',
      level: 'agent',
      stage: 'input',
      category: 'x',
      message: 'Not this.',
    } as const
    const guardrail = agentMiddleware('guardrail', () => {
      throw new GuardrailTripped(block)
    })
    const { agent } = make([], { middleware: guardrail })

    const { response } = await play(agent, 'Go', { stream })

    expect(outline(response.messages)[1]).toBe('tool: c1 = Not this.')
    expect(response.status).toBe('completed')
  })

  it('is aborted with the run of its caller', async () => {
    const controller = new AbortController()
    const { agent, innerClient } = make([
      () => {
        controller.abort(new Error('the user left'))
        return new Promise(() => {})
      },
    ])

    const error = await failureOf(play(agent, 'Go', { signal: controller.signal, stream }))

    expect(error.message).toBe('the user left')
    expect(innerClient.requests[0]!.signal.aborted).toBe(true)
  })

  it('its events and its questions reach the caller of its caller', async () => {
    const events: string[] = []
    const asks = agentMiddleware('asks', async (context, callNext) => {
      context.run.emit({ type: 'note' })
      context.instructions = await context.run.request<string>({ type: 'how' })
      await callNext()
    })
    const { agent, innerClient } = make(['Found.'], { middleware: asks })

    await play(agent, 'Go', {
      onEvent: ({ type }) => events.push(type),
      onRequest: ({ type }) => (type === 'how' ? 'Gently.' : undefined),
      stream,
    })

    expect(events).toEqual(['note', 'how'])
    expect(innerClient.requests[0]!.instructions).toBe('Gently.')
  })

  it('that pauses pauses its caller; the answers of one are the answer of the other', async () => {
    const ran: string[] = []
    const gated = tool({
      name: 'gated',
      description: '',
      approval: 'always',
      execute: () => void ran.push('gated'),
    })
    const { agent, innerClient } = make([callFunction('gated', {}, 'x1'), 'Found.'], {
      tools: [gated],
    })

    const { response: paused } = await play(agent, 'Go', { stream })
    const [pending] = paused.pending
    expect(pending).toMatchObject({ kind: 'approval', path: ['sub'] })
    const { response: still } = await playOn(agent, paused.checkpoint, {}, { stream })
    expect(still.pending).toEqual(paused.pending)
    const answers = { [pending!.id]: true }
    const { response } = await playOn(agent, still.checkpoint, answers, { stream })

    expect(ran).toEqual(['gated'])
    expect(outline(response.messages)).toEqual(['tool: c1 = Found.', 'assistant: All done.'])
    expect(innerClient.requests).toHaveLength(2)
    expect([paused, response].map(({ usage }) => usage.totalTokens)).toEqual([30, 60])
  })

  it('that pauses inside another one names the way to it', async () => {
    const gated = tool({ name: 'gated', description: '', approval: 'always', execute: () => 'ok' })
    const desk = new Agent({
      client: client([callFunction('gated', {}, 'x1')]),
      name: 'desk',
      tools: [gated],
    })
    const { agent } = make([callFunction('desk', { task: 'x' }, 'd1')], {
      tools: [agentTool(desk)],
    })

    const { response } = await play(agent, 'Go', { stream })

    expect(response.pending.map(({ path }) => path)).toEqual([['sub', 'desk']])
  })

  it('may be told by its model what is no JSON while nobody keeps checkpoints', async () => {
    const look = tool({ name: 'look', description: '', execute: () => 'seen' })
    const contents = [callFunction('look', {}, 'l1')]
    const answer = { messages: [{ role: 'assistant', contents, metadata: { huge: 1n } }] } as const
    const { agent } = make([answer, 'Found.'], { tools: [look] })

    const { response } = await play(agent, 'Go', { stream })

    expect(outline(response.messages)).toContain('tool: c1 = Found.')
  })

  it('that paused once begins anew when it is called again under the same id', async () => {
    const gated = tool({ name: 'gated', description: '', approval: 'always', execute: () => 'ok' })
    const sub = new Agent({
      client: client([callFunction('gated', {}, 'x1'), 'First.', 'Second.']),
      name: 'sub',
      tools: [gated],
    })
    const again = callFunction('sub', { task: 'x' }, 'same')
    const agent = new Agent({ client: client([again, again, 'Done.']), tools: [agentTool(sub)] })
    const { response: paused } = await play(agent, 'Go', { stream })
    const [pending] = paused.pending

    const { response } = await playOn(agent, paused.checkpoint, { [pending!.id]: true }, { stream })

    expect(outline(response.messages).filter((line) => line.startsWith('tool'))).toEqual([
      'tool: same = First.',
      'tool: same = Second.',
    ])
  })
})

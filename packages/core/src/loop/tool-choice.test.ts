import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentOptions, ChatOptions } from '../index.ts'
import type { LoopState } from '../contract/chat-options.ts'
import { Agent, chatMiddleware, tool } from '../index.ts'
import { modes, outline, play } from './loop-invariant.test-helper.ts'

describe.each(modes)('toolChoice, $name', ({ stream }) => {
  function make(steps: readonly ScriptedStep[], options: Partial<AgentOptions> = {}) {
    const client = scriptedClient(steps)
    const ran: string[] = []
    const work = tool({
      name: 'work',
      description: '',
      execute: (_, { callId }) => {
        ran.push(callId)
        return 'ok'
      },
    })
    return { client, ran, agent: new Agent({ client, tools: [work], ...options }) }
  }

  const work = (callId: string) => callFunction('work', {}, callId)

  it.each<NonNullable<ChatOptions['toolChoice']>>([
    'required',
    { mode: 'required', functionName: 'work' },
  ])('%j returns right after execution, without another model call', async (toolChoice) => {
    const { agent, client, ran } = make([[work('c1'), work('c2')]])

    const { response } = await play(agent, 'Go', { options: { toolChoice }, stream })

    expect(outline(response.messages)).toEqual([
      'assistant: work(c1), work(c2)',
      'tool: c1 = ok, c2 = ok',
    ])
    expect(response.status).toBe('completed')
    expect(ran).toEqual(['c1', 'c2'])
    expect(client.requests.map(({ options }) => options.toolChoice)).toEqual([toolChoice])
  })

  it('`required` that the model ignores ends with its answer', async () => {
    const { agent } = make(['I would rather talk.'])

    const { response } = await play(agent, 'Go', { options: { toolChoice: 'required' }, stream })

    expect(response).toMatchObject({ status: 'completed', text: 'I would rather talk.' })
  })

  it('`none` drops calls that the provider makes all the same, and says so where nothing is left', async () => {
    const { agent, ran } = make([[work('c1')], ['Well. ', work('c2')]])

    const silent = await play(agent, 'Go', { options: { toolChoice: 'none' }, stream })
    const spoken = await play(agent, 'Go', { options: { toolChoice: 'none' }, stream })

    expect(ran).toEqual([])
    expect(silent.response.text).toBe('I could not finish this with the tools at hand.')
    expect(spoken.response).toMatchObject({
      text: 'Well. ',
      finishReason: 'stop',
      functionCalls: [],
    })
  })

  it('`none` that a chat middleware sets holds for its call', async () => {
    const quiet = chatMiddleware('quiet', async (context, callNext) => {
      context.options = { ...context.options, toolChoice: 'none' }
      await callNext()
    })
    const { agent, ran } = make([['No tools. ', work('c1')]], { middleware: quiet })

    const { response } = await play(agent, 'Go', { stream })

    expect([ran, response.text]).toEqual([[], 'No tools. '])
  })

  it('a function is asked anew in each round, with the state of the loop', async () => {
    const states: LoopState[] = []
    const choose = (state: LoopState) => {
      states.push(state)
      return state.functionCalls < 2 ? 'required' : 'none'
    }
    const { agent, client, ran } = make([
      work('c1'),
      callFunction('ghost', {}, 'c2'),
      work('c3'),
      'Done.',
    ])

    const { response } = await play(agent, 'Go', { options: { toolChoice: choose }, stream })

    expect(client.requests.map(({ options }) => options.toolChoice)).toEqual([
      'required',
      'required',
      'required',
      'none',
    ])
    expect(states).toEqual([
      { iteration: 0, functionCalls: 0, consecutiveErrors: 0 },
      { iteration: 1, functionCalls: 1, consecutiveErrors: 0 },
      { iteration: 2, functionCalls: 1, consecutiveErrors: 1 },
      { iteration: 3, functionCalls: 2, consecutiveErrors: 0 },
    ])
    expect(ran).toEqual(['c1', 'c3'])
    expect(response.text).toBe('Done.')
  })

  it('a limit that is reached overrules it', async () => {
    const { agent, client } = make([work('c1'), 'Done.'], {
      functionInvocation: { maxIterations: 1 },
    })

    await play(agent, 'Go', { options: { toolChoice: () => 'required' }, stream })

    expect(client.requests[1]!.options.toolChoice).toBe('none')
  })

  it("of a run wins over the agent's; where a run names none, the agent's holds", async () => {
    const { agent, client } = make(['A.', 'B.'], {
      options: { toolChoice: 'none', temperature: 1 },
    })

    await play(agent, 'Go', { options: { toolChoice: 'auto' }, stream })
    await play(agent, 'Go', { options: { toolChoice: undefined }, stream })

    expect(client.requests.map(({ options }) => options.toolChoice)).toEqual(['auto', 'none'])
    expect(client.requests.map(({ options }) => options.temperature)).toEqual([1, 1])
  })
})

describe.each(modes)('options of agent and run, $name', ({ stream }) => {
  const named = (name: string) => tool({ name, description: '', execute: () => 'ok' })

  it("merge: the run's win, tools and metadata are joined, provider options by provider", async () => {
    const client = scriptedClient(['Hi.'])
    const [a, b, c] = [named('a'), named('b'), named('c')] as const
    const agent = new Agent({
      client,
      tools: [a],
      instructions: 'Be brief.',
      options: {
        model: 'm1',
        temperature: 0,
        tools: [b],
        metadata: { team: 'x', app: 'y' },
        providerOptions: { one: { p: 1, q: 1 }, two: { r: 1 } },
      },
    })

    await play(agent, 'Go', {
      instructions: 'Be kind.',
      options: {
        model: 'm2',
        temperature: undefined,
        tools: [b, c],
        metadata: { app: 'z' },
        providerOptions: { one: { q: 2 } },
      },
      stream,
    })

    const [request] = client.requests
    expect(request!.options).toMatchObject({
      model: 'm2',
      temperature: 0,
      metadata: { team: 'x', app: 'z' },
      providerOptions: { one: { p: 1, q: 2 }, two: { r: 1 } },
    })
    expect(request!.options.tools).toEqual([a, b, c])
    expect(request!.instructions).toBe('Be brief.\nBe kind.')
  })

  it('the same instructions are not said twice', async () => {
    const client = scriptedClient(['Hi.', 'Hi.'])
    const agent = new Agent({ client, instructions: 'Be brief.' })

    await play(agent, 'Go', { instructions: 'Be brief.', stream })
    await play(new Agent({ client }), 'Go', { stream })

    expect(client.requests.map(({ instructions }) => instructions)).toEqual([
      'Be brief.',
      undefined,
    ])
  })

  it('the same tool twice is one; two tools of one name fail the run', async () => {
    const client = scriptedClient(['Hi.'])
    const a = named('a')
    const agent = new Agent({ client, tools: [a] })

    await play(agent, 'Go', { tools: [a], options: { tools: [a] }, stream })

    expect(client.requests[0]!.options.tools).toEqual([a])
    await expect(play(agent, 'Go', { tools: [named('a')], stream })).rejects.toMatchObject({
      code: 'tool_conflict',
      message: expect.stringContaining('"a"'),
    })
  })
})

import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { FunctionInvocationContext, LamellaError, Middleware } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  hostedTool,
  tool,
} from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'
import { modes, outline, play, playOn } from '../loop/loop-invariant.test-helper.ts'

describe.each(modes)('tools that come and go in a run, $name', ({ stream }) => {
  const named = (
    name: string,
    execute: (context: FunctionInvocationContext) => unknown = () => name,
  ) => tool({ name, description: '', execute: (_, context) => execute(context) })

  function make(
    steps: readonly ScriptedStep[],
    execute: (context: FunctionInvocationContext) => unknown,
    middleware: Middleware[] = [],
  ) {
    const client = scriptedClient(steps)
    const tools = [named('change', execute), named('old')]
    const shown = () => client.requests.map(({ options }) => options.tools?.map(({ name }) => name))
    return { client, tools, shown, agent: new Agent({ client, tools, middleware }) }
  }

  const change = callFunction('change', {}, 'c1')

  it('the context shows what the run may call', async () => {
    const seen: string[][] = []
    const { agent } = make(
      [change, 'Done.'],
      ({ tools }) => void seen.push([...tools].map(({ name }) => name)),
    )

    await play(agent, 'Go', { stream })

    expect(seen).toEqual([['change', 'old']])
  })

  it('a tool that is added is shown to the model and can be called from the next round on', async () => {
    const { agent, shown } = make(
      [[change, callFunction('new', {}, 'c2')], callFunction('new', {}, 'c3'), 'Done.'],
      (context) => context.addTools(named('new')),
    )

    const { response } = await play(agent, 'Go', { stream })

    expect(outline(response.messages).filter((line) => line.startsWith('tool'))).toEqual([
      'tool: c1 = , c2 = unknown_tool',
      'tool: c3 = new',
    ])
    expect(shown()).toEqual([
      ['change', 'old'],
      ['change', 'old', 'new'],
      ['change', 'old', 'new'],
    ])
  })

  it('a tool that is removed is gone in the next round, and its running batch continues', async () => {
    const { agent, shown } = make(
      [[change, callFunction('old', {}, 'c2')], callFunction('old', {}, 'c3'), 'Done.'],
      (context) => context.removeTools('old'),
    )

    const { response } = await play(agent, 'Go', { stream })

    expect(outline(response.messages).filter((line) => line.startsWith('tool'))).toEqual([
      'tool: c1 = , c2 = old',
      'tool: c3 = unknown_tool',
    ])
    expect(shown()[1]).toEqual(['change'])
  })

  it('by object too, and what is unknown is ignored', async () => {
    const { agent, tools, shown } = make([change, 'Done.'], (context) =>
      context.removeTools(tools[1]!, 'ghost', named('old')),
    )

    await play(agent, 'Go', { stream })

    expect(shown()[1]).toEqual(['change'])
  })

  it("neither the caller's list nor the next run sees it", async () => {
    const { agent, tools, shown } = make([change, 'Done.', 'Hi.'], (context) => {
      context.addTools(named('new'))
      context.removeTools('old')
    })
    const own = [...tools]

    await play(agent, 'Go', { stream })
    await play(agent, 'Go', { stream })

    expect(tools).toEqual(own)
    expect(shown()[2]).toEqual(['change', 'old'])
  })

  it('a function middleware and a chat middleware may change them as well', async () => {
    const middlewares = [
      functionMiddleware('adds', async (context, callNext) => {
        context.addTools(named('by_function'))
        await callNext()
      }),
      chatMiddleware('adds', async ({ run }, callNext) => {
        await callNext()
        run.tools.add(sameTool)
      }),
    ]
    const sameTool = named('by_chat')
    const { agent, shown } = make([change, 'Done.'], () => 'ok', middlewares)

    await play(agent, 'Go', { stream })

    expect(shown()[1]).toEqual(['change', 'old', 'by_chat', 'by_function'])
  })

  it('an added tool that must be approved is', async () => {
    const gated = tool({ name: 'gated', description: '', approval: 'always', execute: () => 'ran' })
    const { agent } = make([change, callFunction('gated', {}, 'c2')], (context) =>
      context.addTools(gated),
    )

    const { response } = await play(agent, 'Go', { stream })

    expect(response).toMatchObject({ status: 'paused', pending: [{ kind: 'approval' }] })
  })

  it('the same tool twice is one; another of the name throws, and none of its batch is added', async () => {
    const errors: LamellaError[] = []
    const { agent, tools, shown } = make([change, 'Done.'], (context) => {
      context.addTools(tools[1]!)
      try {
        context.addTools(named('new'), named('old'))
      } catch (error) {
        errors.push(error as LamellaError)
      }
    })

    await play(agent, 'Go', { stream })

    expect(errors).toMatchObject([{ code: 'tool_conflict' }])
    expect(shown()[1]).toEqual(['change', 'old'])
  })

  it('what is hidden or deferred can be called, and is shown again when asked for', async () => {
    let round = 0
    const { agent, shown } = make(
      [change, [change, callFunction('old', {}, 'c2')], 'Done.'],
      ({ tools }) => {
        if (round++ === 0) tools.defer('old')
        else tools.show('old')
      },
    )

    const { response } = await play(agent, 'Go', { stream })

    expect(shown()).toEqual([['change', 'old'], ['change'], ['change', 'old']])
    expect(outline(response.messages)[3]).toBe('tool: c1 = , c2 = old')
  })

  it.each([
    ['tool_search', {}],
    ['search', { type: 'tool_search_tool_bm25_20251119' }],
  ])(
    'what is deferred is left to the search of the provider where there is %s',
    async (name, definition) => {
      const client = scriptedClient([callFunction('old', {}, 'c1'), change, 'Done.'])
      const tools = [hostedTool(name, definition), named('change'), named('old')]
      const defer = lifecycle({ name: 'defer', beforeTurn: ({ run }) => run.tools.defer('old') })
      const agent = new Agent({ client, tools, middleware: [defer] })

      const { response } = await play(agent, 'Go', { stream })

      const offered = client.requests.map(({ options }) => options.tools)
      for (const list of offered) {
        expect(list).toMatchObject([{ name }, { name: 'change' }, { name: 'old' }])
        expect(list![1]).not.toMatchObject({ metadata: { deferLoading: true } })
        expect(list![2]).toMatchObject({ metadata: { deferLoading: true } })
      }
      // Prompt caches of providers stay warm.
      expect(offered[1]![2]).toBe(offered[0]![2])
      expect(outline(response.messages)[1]).toBe('tool: c1 = old')
    },
  )

  it('options without any tools are sent where all are hidden', async () => {
    const { agent, client } = make([change, 'Done.'], ({ tools }) => tools.hide('change', 'old'))

    await play(agent, 'Go', { stream })

    expect(client.requests[1]!.options.tools ?? []).toEqual([])
  })
})

describe.each(modes)('returnDirect, $name', ({ stream }) => {
  const make = (steps: readonly ScriptedStep[], returnDirect = true) => {
    const client = scriptedClient(steps)
    const answer = tool({
      name: 'answer',
      description: '',
      returnDirect,
      execute: ({ fail }) => {
        if (fail === true) throw new Error('no')
        return 'The answer.'
      },
    })
    const other = tool({
      name: 'other',
      description: '',
      execute: (_, { run }) => run.tools.setReturnDirect('answer', true),
    })
    return { client, agent: new Agent({ client, tools: [answer, other] }) }
  }
  const answer = (args: Record<string, unknown> = {}) => callFunction('answer', args, 'c1')

  it('the result of the tool is the answer of the run', async () => {
    const { agent, client } = make([answer()])

    const { response } = await play(agent, 'Go', { stream })

    expect(response).toMatchObject({
      status: 'completed',
      reason: 'return_direct',
      text: 'The answer.',
    })
    expect(outline(response.messages)).toEqual([
      'assistant: answer(c1)',
      'tool: c1 = The answer.',
      'assistant: The answer.',
    ])
    client.assertDone()
  })

  it('siblings run and have their results', async () => {
    const { agent } = make([[callFunction('other', {}, 'c0'), answer()]])

    const { response } = await play(agent, 'Go', { stream })

    expect(outline(response.messages)[1]).toBe('tool: c0 = , c1 = The answer.')
    expect(response.text).toBe('The answer.')
  })

  it('is the answer after a sibling that had to be approved, too', async () => {
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
    const { agent, client } = make([[answer(), callFunction('pay', {}, 'c2')]])
    const { response: paused } = await play(agent, 'Go', { stream, tools: [pay] })
    const answers = { [paused.pending[0]!.id]: true }

    const { response } = await playOn(agent, paused.checkpoint, answers, { stream, tools: [pay] })

    expect(response).toMatchObject({ reason: 'return_direct', text: 'The answer.' })
    expect(client.requests).toHaveLength(1)
  })

  it('a call that failed is no answer: the model continues', async () => {
    const { agent } = make([answer({ fail: true }), 'Sorry.'])

    const { response } = await play(agent, 'Go', { stream })

    expect(response).toMatchObject({ status: 'completed', text: 'Sorry.' })
  })

  it('can be said while the run is active', async () => {
    const { agent, client } = make([callFunction('other', {}, 'c0'), answer()], false)

    const { response } = await play(agent, 'Go', { stream })

    expect(response.text).toBe('The answer.')
    client.assertDone()
  })

  it('is the answer also if another call of the batch waits, and its result came before the pause', async () => {
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
    const { agent: plain, client } = make([[answer(), callFunction('pay', {}, 'c2')]])
    const agent = new Agent({ client, tools: [...plain.tools, pay] })
    const { response: paused } = await play(agent, 'Go', { stream })

    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: true },
      { stream },
    )

    expect(response).toMatchObject({ reason: 'return_direct', text: 'The answer.' })
    client.assertDone()
  })

  it('what the run says about it can be read, and holds after a pause', async () => {
    const read: boolean[] = []
    const pay = tool({
      name: 'pay',
      description: '',
      approval: 'always',
      execute: (_, { tools }) => {
        read.push(tools.returnsDirect('pay'))
        return 'paid'
      },
    })
    const direct = agentMiddleware('direct', async ({ run }, callNext) => {
      if (run.iteration === 0) run.tools.setReturnDirect('pay', true)
      await callNext()
    })
    const client = scriptedClient([callFunction('pay', {}, 'c1')])
    const agent = new Agent({ client, tools: [pay], middleware: direct })
    const { response: paused } = await play(agent, 'Go', { stream })

    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: true },
      { stream },
    )

    expect(read).toEqual([true])
    expect(response).toMatchObject({ reason: 'return_direct', text: 'paid' })
  })
})

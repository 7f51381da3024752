import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentOptions, Checkpoint, Content, Message, SessionSnapshot } from '../index.ts'
import {
  Agent,
  BudgetExhausted,
  agentMiddleware,
  checkpointState,
  createSession,
  defineState,
  functionMiddleware,
  jsonSchema,
  outcomeOf,
  text,
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
import { Journal } from '../run/journal.ts'

describe.each(modes)('a run that is resumed from a checkpoint, $name', ({ stream }) => {
  function make(steps: readonly ScriptedStep[], options: Partial<AgentOptions> = {}) {
    const client = scriptedClient(steps)
    const ran: string[] = []
    const pay = tool({
      name: 'pay',
      description: '',
      parameters: jsonSchema({
        type: 'object',
        properties: { euro: { type: 'number' } },
        required: ['euro'],
      }),
      approval: 'always',
      execute: ({ euro }) => {
        ran.push(`paid ${String(euro)}`)
        return `paid ${String(euro)}`
      },
    })
    const look = tool({ name: 'look', description: '', execute: () => void ran.push('looked') })
    return { client, ran, agent: new Agent({ client, tools: [pay, look], ...options }) }
  }

  const pay = (euro: number, callId: string) => callFunction('pay', { euro }, callId)
  const look = (callId: string) => callFunction('look', {}, callId)

  it('continues where it stood: results first, then the answer', async () => {
    const { agent, client, ran } = make([look('c0'), pay(5, 'c1'), 'Paid.'])
    const { response: paused } = await play(agent, 'Go', { stream })

    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: true },
      { stream },
    )

    expect(ran).toEqual(['looked', 'paid 5'])
    expect(outline(response.messages)).toEqual(['tool: c1 = paid 5', 'assistant: Paid.'])
    expect(response).toMatchObject({
      status: 'completed',
      runId: paused.runId,
      pending: [],
    })
    expect(outline(client.requests[2]!.messages)).toEqual([
      'user: Go',
      'assistant: look(c0)',
      'tool: c0 = ',
      'assistant: pay(c1)',
      'tool: c1 = paid 5',
    ])
    expect(response.usage.totalTokens).toBe(45)
  })

  it('continues in another process, where only the code is the same', async () => {
    const before = make([[look('c1'), pay(5, 'c2')]])
    const { response: paused } = await play(before.agent, 'Go', { stream })
    const after = make(['Paid.'])

    const { response } = await playOn(
      after.agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: true },
      { stream },
    )

    expect([before.ran, after.ran]).toEqual([['looked'], ['paid 5']])
    expect(response.text).toBe('Paid.')
  })

  it('a checkpoint is plain JSON, with bytes in base64 and nothing of an SDK in it', async () => {
    const picture: Content = {
      type: 'data',
      mediaType: 'image/png',
      data: new Uint8Array([1, 2, 255]),
    }
    const { agent, client } = make([{ messages: pay(5, 'c1'), raw: { huge: 1n } }, 'Paid.'])

    const { response: paused } = await play(agent, ['See:', picture], { stream })

    const { checkpoint } = paused
    expect(JSON.parse(JSON.stringify(checkpoint))).toEqual(checkpoint)
    await playOn(agent, checkpoint, { [paused.pending[0]!.id]: true }, { stream })
    expect(client.requests[1]!.messages[0]!.contents[1]).toEqual({ ...picture, data: 'AQL/' })
  })

  it('what happens after it was taken does not change a checkpoint', async () => {
    const { agent } = make([pay(5, 'c1'), 'Paid.'])
    const { response: paused } = await play(agent, 'Go', { stream })
    const before = structuredClone(paused.checkpoint)

    await agent.resume(paused.checkpoint!, { [paused.pending[0]!.id]: true })

    expect(paused.checkpoint).toEqual(before)
  })

  it.each<[string, unknown, string[], string]>([
    ['true', true, ['paid 5'], 'tool: c1 = paid 5'],
    ['false', false, [], 'tool: c1 = rejected'],
    ['a rejection with a reason', { approved: false, reason: 'No.' }, [], 'tool: c1 = rejected'],
    [
      'edited arguments',
      { approved: true, arguments: { euro: 1 } },
      ['paid 1'],
      'tool: c1 = paid 1',
    ],
    [
      'edited arguments that do not fit',
      { approved: true, arguments: { euro: 'x' } },
      [],
      'tool: c1 = invalid_arguments',
    ],
  ])('the answer to an approval may be %s', async (_, answer, expected, line) => {
    const { agent, ran } = make([pay(5, 'c1'), 'Done.'])
    const { response: paused } = await play(agent, 'Go', { stream })

    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: answer },
      { stream },
    )

    expect(ran).toEqual(expected)
    expect(outline(response.messages)).toEqual([line, 'assistant: Done.'])
  })

  it('answers may come one by one, in any order; what is not answered stays pending under its id', async () => {
    const { agent, client, ran } = make([[pay(1, 'c1'), pay(2, 'c2'), look('c3')], 'Done.'])
    const { response: paused } = await play(agent, 'Go', { stream })
    const [first, second] = paused.pending.map(({ id }) => id)

    const { response: half } = await playOn(
      agent,
      paused.checkpoint,
      { [second!]: true },
      { stream },
    )
    const { response: same } = await playOn(agent, half.checkpoint, {}, { stream })
    const { response } = await playOn(agent, same.checkpoint, { [first!]: true }, { stream })

    expect([half, same].map(({ pending }) => pending.map(({ id }) => id))).toEqual([
      [first],
      [first],
    ])
    expect(ran).toEqual(['looked', 'paid 2', 'paid 1'])
    expect(response).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(client.requests).toHaveLength(2)
    const sent = client.requests[1]!.messages
    expect(resultsOf(sent).map(({ callId }) => callId)).toEqual(['c1', 'c2', 'c3'])
  })

  it('so it does in other processes, and after a crash', async () => {
    const { agent, ran } = make([[pay(1, 'c1'), pay(2, 'c2')], 'Done.'])
    const { response: paused } = await play(agent, 'Go', { stream })
    const [first, second] = paused.pending.map(({ id }) => id)
    const kept: Checkpoint[] = []
    const onCheckpoint = (checkpoint: Checkpoint): void => {
      kept.push(checkpoint)
      if (checkpoint.journal.some(({ kind }) => kind === 'tool')) throw new Error('dead')
    }

    const answers = { [second!]: true }
    const other = make([])
    const dying = playOn(other.agent, paused.checkpoint, answers, { onCheckpoint, stream })
    await expect(dying).rejects.toThrow('dead')
    const { response: half } = await playOn(make([]).agent, kept.at(-1), {}, { stream })
    const last = make(['Done.'])
    const { response } = await playOn(last.agent, half.checkpoint, { [first!]: true }, { stream })

    const open = [checkpointState(kept[0]!).pending, half.pending]
    expect(open.map((pending) => pending.map(({ id }) => id))).toEqual([[first], [first]])
    expect([ran, other.ran, last.ran]).toEqual([[], ['paid 2'], ['paid 1']])
    expect(response.text).toBe('Done.')
  })

  it('calls that were approved together run at the same time', async () => {
    const meeting: (() => void)[] = []
    const meet = tool({
      name: 'meet',
      description: '',
      approval: 'always',
      execute: async () => {
        await new Promise<void>((resolve) => {
          meeting.push(resolve)
          if (meeting.length === 2) for (const meets of meeting) meets()
        })
        return 'met'
      },
    })
    const calls = [callFunction('meet', {}, 'c1'), callFunction('meet', {}, 'c2')]
    const { agent } = make([calls, 'Done.'], { tools: [meet] })
    const { response: paused } = await play(agent, 'Go', { stream })
    const answers = Object.fromEntries(paused.pending.map(({ id }) => [id, true]))

    const { response } = await playOn(agent, paused.checkpoint, answers, { stream })

    expect(response.text).toBe('Done.')
  })

  it('a call in an earlier message of the answer is found again', async () => {
    const said = (id: string, content: Content) =>
      ({ id, role: 'assistant', contents: [content] }) as const
    const { agent, ran } = make([
      { messages: [said('m1', pay(1, 'c1')), said('m2', look('c2'))] },
      'Done.',
    ])
    const { response: paused } = await play(agent, 'Go', { stream })

    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: true },
      { stream },
    )

    expect(ran).toEqual(['looked', 'paid 1'])
    expect(response.text).toBe('Done.')
  })

  describe('nothing executes', () => {
    it('for an answer that nobody asked for', async () => {
      const { agent, ran } = make([pay(5, 'c1')])
      const { response: paused } = await play(agent, 'Go', { stream })

      const error = await failureOf(
        playOn(agent, paused.checkpoint, { approval_0: true }, { stream }),
      )

      expect(error).toMatchObject({
        code: 'approval_invalid',
        message: expect.stringContaining('"approval_0"'),
      })
      expect(ran).toEqual([])
    })

    it('for an answer that was given before', async () => {
      const { agent, ran } = make([pay(5, 'c1'), 'Paid.'])
      const { response: paused } = await play(agent, 'Go', { stream })
      const answers = { [paused.pending[0]!.id]: true }
      await playOn(agent, paused.checkpoint, answers, { stream })

      const error = await failureOf(playOn(agent, paused.checkpoint, answers, { stream }))

      expect(error).toMatchObject({
        code: 'approval_used',
        message: expect.stringContaining('before'),
      })
      expect(ran).toEqual(['paid 5'])
    })

    it.each(['yes', null, { approved: 'yes' }])(
      'for an answer that is none, and the right one still counts: %j',
      async (none) => {
        const { agent, ran } = make([[pay(1, 'c1'), pay(2, 'c2')], 'Paid.'])
        const { response: paused } = await play(agent, 'Go', { stream })
        const [first, second] = paused.pending.map(({ id }) => id)

        const error = await failureOf(
          playOn(agent, paused.checkpoint, { [first!]: true, [second!]: none }, { stream }),
        )
        expect(error).toMatchObject({ code: 'approval_invalid' })
        expect(ran).toEqual([])

        await playOn(agent, paused.checkpoint, { [first!]: true, [second!]: true }, { stream })
        expect(ran).toEqual(['paid 1', 'paid 2'])
      },
    )

    it.each(['fails', 'is blocked'])(
      'and says what stays open if the run %s before any effect',
      async (how) => {
        let isOpen = true
        const closed = agentMiddleware('closed', async (_, callNext) => {
          if (isOpen) return callNext()
          if (how === 'fails') throw new TypeError('closed')
          throw new BudgetExhausted('tokens', 1)
        })
        const { agent, ran } = make([pay(5, 'c1'), new TypeError('cut')], { middleware: closed })
        const { response: paused } = await play(agent, 'Go', { stream })
        isOpen = false
        const answers = { [paused.pending[0]!.id]: true }
        const resumed = () =>
          playOn(agent, paused.checkpoint, answers, { stream }).then(({ response }) => response)

        const early = await resumed().catch(outcomeOf)
        isOpen = true
        const late = await resumed().catch(outcomeOf)
        const used = await resumed().catch(outcomeOf)

        expect(early?.pending).toEqual(paused.pending)
        expect([late?.pending, used?.pending]).toEqual([[], []])
        expect(ran).toEqual(['paid 5'])
      },
    )

    it('for answers of which one was given before, and the others still count', async () => {
      const { agent, ran } = make([[pay(1, 'c1'), pay(2, 'c2')], 'Paid.'])
      const { response: paused } = await play(agent, 'Go', { stream })
      const [first, second] = paused.pending.map(({ id }) => id)
      const { response: half } = await playOn(
        agent,
        paused.checkpoint,
        { [second!]: true },
        { stream },
      )

      const both = { [first!]: true, [second!]: true }
      const error = await failureOf(playOn(agent, paused.checkpoint, both, { stream }))
      await playOn(agent, half.checkpoint, { [first!]: true }, { stream })

      expect(error).toMatchObject({ code: 'approval_used' })
      expect(ran).toEqual(['paid 2', 'paid 1'])
    })

    it('for a request that was made up in the answers of a message', async () => {
      const { agent, ran } = make([pay(5, 'c1'), 'Paid.', 'Hm.'])
      const { response: paused } = await play(agent, 'Go', { stream })
      const id = paused.pending[0]!.id
      await playOn(agent, paused.checkpoint, { [id]: true }, { stream })

      const error = await failureOf(agent.run('Again', { answers: { [id]: true } }))

      expect(error).toMatchObject({ code: 'approval_used' })
      expect(ran).toEqual(['paid 5'])
    })

    it.each<[string, unknown]>([
      ['nothing', undefined],
      ['another object', { version: 1 }],
      ['a later version', { version: 2 }],
    ])('for %s in place of a checkpoint', async (_, given) => {
      const { agent } = make([pay(5, 'c1')])
      const { response: paused } = await play(agent, 'Go', { stream })
      const value =
        given !== undefined && 'version' in (given as object) && (given as Checkpoint).version !== 1
          ? { ...paused.checkpoint, ...(given as object) }
          : given

      const error = await failureOf((async () => agent.resume(value as Checkpoint, {}))())

      expect(error).toMatchObject({ code: 'checkpoint_invalid' })
    })

    it('for the checkpoint of another session', async () => {
      const { agent, ran } = make([pay(5, 'c1')])
      const { response: paused } = await play(agent, 'Go', { session: createSession(), stream })
      const answers = { [paused.pending[0]!.id]: true }

      const error = await failureOf(
        (async () => agent.resume(paused.checkpoint!, answers, { session: createSession() }))(),
      )

      expect(error).toMatchObject({ code: 'checkpoint_invalid' })
      expect(ran).toEqual([])
    })
  })

  describe('with a session', () => {
    it('the session holds the whole talk, and nothing is pending any more', async () => {
      const { agent } = make([pay(5, 'c1'), 'Paid.'])
      const session = createSession()
      const { response: paused } = await play(agent, 'Go', { session, stream })
      const restored = createSession(JSON.parse(JSON.stringify(session)) as SessionSnapshot)

      await playOn(
        agent,
        paused.checkpoint,
        { [paused.pending[0]!.id]: true },
        { session: restored, stream },
      )

      expect(restored.pending).toEqual([])
      expect(outline(restored.messages)).toEqual([
        'user: Go',
        'assistant: pay(c1), approve c1?',
        'tool: c1 = paid 5',
        'assistant: Paid.',
      ])
    })

    it('the session keeps what was said before the pause as the middlewares left it', async () => {
      const redact = agentMiddleware('redact', async (context, callNext) => {
        context.transformUpdates({
          transform: (update, controller) =>
            controller.enqueue(
              JSON.parse(JSON.stringify(update).replaceAll('swordfish', '***')) as typeof update,
            ),
        })
        await callNext()
      })
      const words = { type: 'text', text: 'The word is swordfish.' } as const
      const { agent } = make([[words, pay(5, 'c1')], 'Paid.'], { middleware: redact })
      const session = createSession()
      const { response: paused } = await play(agent, 'Go', { session, stream })

      await playOn(agent, paused.checkpoint, { [paused.pending[0]!.id]: true }, { session, stream })

      expect(outline(session.messages)).toEqual([
        'user: Go',
        'assistant: The word is ***., pay(c1), approve c1?',
        'tool: c1 = paid 5',
        'assistant: Paid.',
      ])
    })

    it('a session that joins the run after the pause gets the whole talk', async () => {
      const { agent } = make([pay(5, 'c1'), 'Paid.'])
      const { response: paused } = await play(agent, 'Go', { stream })
      const session = createSession()

      await playOn(agent, paused.checkpoint, { [paused.pending[0]!.id]: true }, { session, stream })

      expect(outline(session.messages)).toEqual([
        'user: Go',
        'assistant: pay(c1), approve c1?',
        'tool: c1 = paid 5',
        'assistant: Paid.',
      ])
    })

    it('what a rewrite changes after the pause is changed in the session', async () => {
      const rewrite = functionMiddleware('rewrite', async ({ run }, callNext) => {
        await callNext()
        const changed = (entry: Message): Message => ({ ...entry, contents: [text('Hurry')] })
        run.messages.rewrite(([first, ...others]) => [changed(first!), ...others])
      })
      const { agent } = make([pay(5, 'c1'), 'Paid.'], { middleware: rewrite })
      const session = createSession()
      const { response: paused } = await play(agent, 'Go', { session, stream })

      await playOn(agent, paused.checkpoint, { [paused.pending[0]!.id]: true }, { session, stream })

      expect(outline(session.messages)[0]).toBe('user: Hurry')
    })

    it('what was said in the session meanwhile is not lost', async () => {
      const { agent } = make([pay(5, 'c1'), 'Rome.', 'Paid.'])
      const session = createSession()
      const { response: paused } = await play(agent, 'Go', { session, stream })
      await play(agent, 'Capital of Italy?', { session, stream })

      await playOn(agent, paused.checkpoint, { [paused.pending[0]!.id]: true }, { session, stream })

      expect(outline(session.messages)).toEqual([
        'user: Go',
        'assistant: pay(c1), approve c1?',
        'tool: c1 = paid 5',
        'user: Capital of Italy?',
        'assistant: Rome.',
        'assistant: Paid.',
      ])
    })
  })

  it('counts continue: iterations, calls, errors', async () => {
    const { agent, client } = make([look('c1'), pay(5, 'c2'), 'Stop.'], {
      functionInvocation: { maxFunctionCalls: 2 },
    })
    const { response: paused } = await play(agent, 'Go', { stream })
    const { loop } = new Journal(paused.checkpoint!.journal)
    expect(loop).toMatchObject({ iteration: 2, functionCalls: 1 })

    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: true },
      { stream },
    )

    expect(client.requests[2]!.options.toolChoice).toBe('none')
    expect(response.reason).toBe('max_function_calls')
  })

  it('an approval is carried out even when the iterations are used up', async () => {
    const { agent, client, ran } = make([pay(5, 'c1'), 'Paid.'], {
      functionInvocation: { maxIterations: 1 },
    })
    const { response: paused } = await play(agent, 'Go', { stream })

    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: true },
      { stream },
    )

    expect(ran).toEqual(['paid 5'])
    expect(client.requests[1]!.options.toolChoice).toBe('none')
    expect(response).toMatchObject({ status: 'max_iterations', text: 'Paid.' })
  })

  it('state with a schema, tools that were shown, and attempts are as they were', async () => {
    const visits = defineState({
      name: 'visits',
      initial: () => 0,
      schema: jsonSchema<number>({ type: 'number' }),
    })
    const counted: number[] = []
    const count = functionMiddleware('count', async ({ run, callId }, callNext) => {
      counted.push(run.state.update(visits, (n) => n + 1))
      if (callId === 'c0') {
        run.tools.hide('look')
        run.recordAttempt({ status: 'failed', reason: 'test' })
      }
      await callNext()
    })
    const { agent, client } = make([look('c0'), pay(5, 'c1'), 'Paid.'], { middleware: count })
    const { response: paused } = await play(agent, 'Go', { stream })

    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: true },
      { stream },
    )

    expect(counted).toEqual([1, 2])
    expect(client.requests.map(({ options }) => options.tools?.map(({ name }) => name))).toEqual([
      ['pay', 'look'],
      ['pay'],
      ['pay'],
    ])
    expect(response.attempts).toEqual([{ iteration: 0, status: 'failed', reason: 'test' }])
  })

  it('`required` returns after the approved call too', async () => {
    const { agent, client } = make([pay(5, 'c1')])
    const options = { toolChoice: 'required' } as const
    const { response: paused } = await play(agent, 'Go', { options, stream })

    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: true },
      { options, stream },
    )

    expect(outline(response.messages)).toEqual(['tool: c1 = paid 5'])
    expect(client.requests).toHaveLength(1)
  })
})

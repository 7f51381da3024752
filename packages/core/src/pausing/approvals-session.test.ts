import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { Content, Session, SessionSnapshot } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  BudgetExhausted,
  createSession,
  functionMiddleware,
  memoryStore,
  MiddlewareTermination,
  tool,
} from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'
import { failureOf, modes, outline, play, resultsOf } from '../loop/loop-invariant.test-helper.ts'

describe.each(modes)('approvals in a session, $name', ({ stream }) => {
  function make(steps: readonly ScriptedStep[]) {
    const client = scriptedClient(steps)
    const ran: string[] = []
    const named = (name: string, approval: 'always' | 'never') =>
      tool({ name, description: '', approval, execute: (_, { callId }) => void ran.push(callId) })
    const tools = [named('gated', 'always'), named('safe', 'never')]
    return { client, ran, tools, agent: new Agent({ client, tools }), session: createSession() }
  }

  const directTool = tool({
    name: 'direct',
    description: '',
    approval: 'always',
    returnDirect: true,
    execute: () => 'The answer.',
  })
  const gated = (callId: string) => callFunction('gated', {}, callId)
  const safe = (callId: string) => callFunction('safe', {}, callId)
  const answer = (id: string | undefined, approved: boolean) => ({ [id!]: approved })
  const copyOf = (session: Session): Session =>
    createSession(JSON.parse(JSON.stringify(session)) as SessionSnapshot)

  it('a result stands behind its call, before what a run without input has said meanwhile', async () => {
    const { agent, client, session } = make([gated('c1'), 'Meanwhile.', 'Done.'])
    const { response: asked } = await play(agent, 'Go', { session, stream })
    await play(agent, [], { session, stream })

    await play(agent, [], { answers: answer(asked.pending[0]?.id, true), session, stream })

    expect(outline(client.requests[2]!.messages)).toEqual([
      'user: Go',
      'assistant: gated(c1)',
      'tool: c1 = ',
      'assistant: Meanwhile.',
    ])
  })

  it('the session records what was asked, and an answer alone is enough to continue', async () => {
    const { agent, client, ran, session } = make([gated('c1'), 'Done.'])
    const { response: asked } = await play(agent, 'Go', { session, stream })
    expect(session.pending).toEqual([asked.messages[0]!.contents[1]])

    const { response } = await play(agent, [], {
      answers: answer(asked.pending[0]?.id, true),
      session,
      stream,
    })

    expect(ran).toEqual(['c1'])
    expect(outline(response.messages)).toEqual(['tool: c1 = ', 'assistant: Done.'])
    expect(session.pending).toEqual([])
    expect(outline(client.requests[1]!.messages)).toEqual([
      'user: Go',
      'assistant: gated(c1)',
      'tool: c1 = ',
    ])
  })

  it('what is pending survives JSON, another process and another agent with the same tools', async () => {
    const { agent, session } = make([gated('c1')])
    const { response: asked } = await play(agent, 'Go', { session, stream })
    const later = make(['Done.'])

    const restored = copyOf(session)
    const { response } = await play(later.agent, [], {
      answers: answer(asked.pending[0]?.id, true),
      session: restored,
      stream,
    })

    expect(later.ran).toEqual(['c1'])
    expect(response.text).toBe('Done.')
  })

  it('an answer counts once: a second one runs nothing and calls no model', async () => {
    const { agent, client, ran, session } = make([gated('c1'), 'Done.'])
    const { response: asked } = await play(agent, 'Go', { session, stream })
    const yes = answer(asked.pending[0]?.id, true)

    await play(agent, [], { answers: yes, session, stream })
    const answers = { [asked.pending[0]!.id]: true }
    const errors = [
      await failureOf(play(agent, [], { answers: yes, session, stream })),
      await failureOf(play(agent, 'And now?', { answers: yes, session, stream })),
      await failureOf(play(agent, 'Continue', { session, answers, stream })),
    ]

    expect(errors).toMatchObject(errors.map(() => ({ code: 'approval_used' })))
    expect(ran).toEqual(['c1'])
    expect(client.requests).toHaveLength(2)
  })

  it('an answer counts once in a session that is kept longer than the claims', async () => {
    const { client, tools, ran, session } = make([gated('c1'), 'Done.'])
    const { response: asked } = await play(new Agent({ client, tools }), 'Go', { session, stream })
    const yes = answer(asked.pending[0]?.id, true)
    const inProcess = () => new Agent({ client, tools, store: memoryStore() })
    await play(inProcess(), [], { answers: yes, session, stream })

    const error = await failureOf(play(inProcess(), [], { answers: yes, session, stream }))

    expect(error).toMatchObject({ code: 'approval_used' })
    expect(ran).toEqual(['c1'])
  })

  it('an answer to a request of another session decides nothing', async () => {
    const { agent, ran, session } = make([gated('c1'), 'Hm.'])
    const { response: asked } = await play(agent, 'Go', { session, stream })

    const elsewhere = play(agent, [], {
      answers: answer(asked.pending[0]?.id, true),
      session: createSession(),
      stream,
    })

    await expect(elsewhere).rejects.toMatchObject({ code: 'approval_invalid' })
    expect(ran).toEqual([])
    expect(session.pending).toHaveLength(1)
  })

  it('a turn about something else does not see what is pending, nor loses it', async () => {
    const { agent, client, ran, session } = make([[safe('c1'), gated('c2')], 'Rome.', 'Done.'])
    const { response: asked } = await play(agent, 'Go', { session, stream })
    const before = [...ran]

    await play(agent, 'Capital of Italy?', { session, stream })
    expect(ran).toEqual(before)
    await play(agent, [], { answers: answer(asked.pending[0]?.id, true), session, stream })

    expect(outline(client.requests[1]!.messages)).toEqual([
      'user: Go',
      'assistant: safe(c1)',
      'tool: c1 = ',
      'user: Capital of Italy?',
    ])
    expect(outline(client.requests[2]!.messages)).toEqual([
      'user: Go',
      'assistant: safe(c1), gated(c2)',
      'tool: c1 = ',
      'tool: c2 = ',
      'user: Capital of Italy?',
      'assistant: Rome.',
    ])
    expect(ran).toEqual(['c1', 'c2'])
  })

  it('thoughts that led to a hidden call are hidden with it, and replayed with it', async () => {
    const thought: Content = { type: 'reasoning', text: 'Hm.', protected: 'signed' }
    const { agent, client, session } = make([[thought, gated('c1')], 'Rome.', 'Done.'])
    const { response: asked } = await play(agent, 'Go', { session, stream })

    await play(agent, 'Capital of Italy?', { session, stream })
    await play(agent, [], { answers: answer(asked.pending[0]?.id, true), session, stream })

    expect(outline(client.requests[1]!.messages)).toEqual(['user: Go', 'user: Capital of Italy?'])
    expect(client.requests[2]!.messages[1]!.contents).toEqual([thought, gated('c1')])
  })

  it('so are thoughts in a message of their own', async () => {
    const said = (id: string, content: Content) =>
      ({ id, role: 'assistant', contents: [content] }) as const
    const thought: Content = { type: 'reasoning', text: 'Hm.', id: 'r1' }
    const { agent, client, session } = make([
      { messages: [said('m1', thought), said('m2', gated('c1'))] },
      'Rome.',
      'Done.',
    ])
    const { response: asked } = await play(agent, 'Go', { session, stream })

    await play(agent, 'Capital of Italy?', { session, stream })
    await play(agent, [], { answers: answer(asked.pending[0]?.id, true), session, stream })

    expect(outline(client.requests[1]!.messages)).toEqual(['user: Go', 'user: Capital of Italy?'])
    expect(outline(client.requests[2]!.messages).slice(0, 4)).toEqual([
      'user: Go',
      'assistant: reasoning',
      'assistant: gated(c1)',
      'tool: c1 = ',
    ])
  })

  it('an answer may come with words', async () => {
    const { agent, client, session } = make([gated('c1'), 'Done.'])
    const { response: asked } = await play(agent, 'Go', { session, stream })

    await play(agent, 'Hurry.', { answers: answer(asked.pending[0]?.id, true), session, stream })

    expect(outline(client.requests[1]!.messages)).toEqual([
      'user: Go',
      'assistant: gated(c1)',
      'tool: c1 = ',
      'user: Hurry.',
    ])
  })

  it('requests of several turns can be answered together; each result stands behind its call', async () => {
    const { agent, client, ran, session } = make([gated('c1'), gated('c2'), 'Done.'])
    const { response: first } = await play(agent, 'One', { session, stream })
    const { response: second } = await play(agent, 'Two', { session, stream })
    expect(session.pending).toHaveLength(2)

    const both = { ...answer(first.pending[0]?.id, true), ...answer(second.pending[0]?.id, false) }
    const { response } = await play(agent, [], { answers: both, session, stream })

    expect(ran).toEqual(['c1'])
    expect(outline(response.messages)).toEqual([
      'tool: c1 = ',
      'tool: c2 = rejected',
      'assistant: Done.',
    ])
    expect(outline(client.requests[2]!.messages)).toEqual([
      'user: One',
      'assistant: gated(c1)',
      'tool: c1 = ',
      'user: Two',
      'assistant: gated(c2)',
      'tool: c2 = rejected',
    ])
  })

  it('of several turns, requests without an answer stay open, and no model is called', async () => {
    const steps = [
      [gated('a1'), gated('a2')],
      [gated('b1'), gated('b2')],
    ]
    const { agent, client, ran, session } = make(steps)
    const { response: first } = await play(agent, 'One', { session, stream })
    const { response: second } = await play(agent, 'Two', { session, stream })

    const some = { ...answer(first.pending[0]?.id, true), ...answer(second.pending[0]?.id, true) }
    const { response } = await play(agent, [], { answers: some, session, stream })

    expect(ran).toEqual(['a1', 'b1'])
    expect(response).toMatchObject({
      status: 'paused',
      pending: [{ id: first.pending[1]?.id }, { id: second.pending[1]?.id }],
    })
    expect(client.requests).toHaveLength(2)
  })

  it.each([
    ['whose results go to the model', gated('b')],
    ['whose result is the answer', callFunction('direct', {}, 'b')],
  ])('of several turns, one request keeps the run paused, despite calls %s', async (_, call) => {
    const { client, tools, session } = make([[gated('a1'), gated('a2')], call])
    const agent = new Agent({ client, tools: [...tools, directTool] })
    const { response: first } = await play(agent, 'One', { session, stream })
    const { response: second } = await play(agent, 'Two', { session, stream })

    const some = { ...answer(first.pending[0]?.id, true), ...answer(second.pending[0]?.id, true) }
    const { response } = await play(agent, [], { answers: some, session, stream })

    expect(response).toMatchObject({ status: 'paused', pending: [{ id: first.pending[1]?.id }] })
  })

  it('of several turns, a call that is removed while another one is executed does not run', async () => {
    const { client, ran, tools, session } = make([gated('a'), gated('b'), 'Done.'])
    const forget = lifecycle({
      name: 'forget',
      afterFunction: ({ run }) =>
        run.messages.rewrite((all) =>
          all.filter(
            ({ contents }) => !contents.some((one) => 'callId' in one && one.callId === 'b'),
          ),
        ),
    })
    const agent = new Agent({ client, tools, middleware: forget })
    const { response: first } = await play(agent, 'One', { session, stream })
    const { response: second } = await play(agent, 'Two', { session, stream })

    const both = { ...answer(first.pending[0]?.id, true), ...answer(second.pending[0]?.id, true) }
    const { text } = await agent.run([], { answers: both, session })

    expect([text, ran]).toEqual(['Done.', ['a']])
  })

  it.each([
    ['terminated', new MiddlewareTermination('enough')],
    ['budget_exhausted', new BudgetExhausted('toolCalls', 1)],
  ] as const)(
    'of several turns, calls are cancelled after one that ends the run as %s',
    async (status, ending) => {
      const { client, ran, tools, session } = make([gated('a'), [gated('b1'), gated('b2')]])
      const end = functionMiddleware('end', async ({ callId }, callNext) => {
        if (callId === 'a') throw ending
        await callNext()
      })
      const agent = new Agent({ client, tools, middleware: end })
      const { response: first } = await play(agent, 'One', { session, stream })
      const { response: second } = await play(agent, 'Two', { session, stream })

      const some = { ...answer(first.pending[0]?.id, true), ...answer(second.pending[0]?.id, true) }
      const { response } = await play(agent, [], { answers: some, session, stream })

      expect(response.status).toBe(status)
      expect(ran).toEqual([])
      expect(resultsOf(response.messages).map(({ callId }) => callId)).toEqual(['a', 'b1'])
      expect(session.pending.map(({ call }) => call.callId)).toEqual(['b2'])
    },
  )

  it('a call id that comes again is another call: each answer decides about its own', async () => {
    const { agent, client, ran, session } = make([gated('same'), gated('same'), 'Done.', 'Over.'])
    const { response: first } = await play(agent, 'One', { session, stream })
    const { response: second } = await play(agent, 'Two', { session, stream })

    const { response } = await play(agent, [], {
      answers: answer(second.pending[0]?.id, true),
      session,
      stream,
    })
    expect(session.pending).toHaveLength(1)
    await play(agent, [], { answers: answer(first.pending[0]?.id, false), session, stream })

    const [own] = ran
    expect(ran).toEqual([expect.not.stringMatching('same')])
    expect(outline(response.messages)).toEqual([`tool: ${own} = `, 'assistant: Done.'])
    expect(outline(client.requests[3]!.messages)).toEqual([
      'user: One',
      'assistant: gated(same)',
      'tool: same = rejected',
      'user: Two',
      `assistant: gated(${own})`,
      `tool: ${own} = `,
      'assistant: Done.',
    ])
  })

  it('a call whose id came again waits for its own request', async () => {
    const { agent, session } = make([[gated('same'), gated('b')], gated('same')])
    const { response: first } = await play(agent, 'One', { session, stream })
    await play(agent, 'Two', { session, stream })

    const yes = answer(first.pending[1]?.id, true)
    const { response } = await play(agent, [], { answers: yes, session, stream })

    expect(response.pending).toEqual([first.pending[0]])
  })

  it('a request stays open under its id where nothing follows it', async () => {
    const { agent, session } = make([[gated('a'), gated('b')]])
    const { response: asked } = await play(agent, 'Go', { session, stream })
    const answers = { [asked.pending[0]!.id]: true }

    const { response } = await play(agent, [], { session, answers, stream })

    expect(response.pending).toEqual([asked.pending[1]])
  })

  it.each([false, true])(
    'a request is in the message of its call (rewritten: %s)',
    async (isRewritten) => {
      const { agent, session } = make([[gated('a'), safe('b')]])
      let shown: string[] = []
      const look = agentMiddleware('look', async ({ run }, callNext) => {
        await callNext()
        shown = outline(run.messages.all)
      })
      const rewrite = lifecycle({
        name: 'rewrite',
        afterModelCall: ({ run }) => {
          if (isRewritten) run.messages.rewrite((messages) => [...messages])
        },
      })

      await play(agent, 'Go', { session, middleware: [look, rewrite], stream })

      const lines = ['user: Go', 'assistant: gated(a), safe(b), approve a?', 'tool: b = ']
      expect(shown).toEqual(lines)
      expect(outline(session.messages)).toEqual(lines)
    },
  )

  it('a new call with the id of a pending one runs', async () => {
    const { agent, ran, session } = make([gated('same'), safe('same'), 'Done.'])
    await play(agent, 'One', { session, stream })

    const response = await agent.run('Two', { session })

    expect(ran).toEqual([expect.not.stringMatching('same')])
    expect(response).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(session.pending).toHaveLength(1)
  })

  it('of a batch with one answer, the other request stays open and keeps its id', async () => {
    const { agent, client, ran, session } = make([[gated('c1'), gated('c2')], 'Done.'])
    const { response: asked } = await play(agent, 'Go', { session, stream })

    const { response: half } = await play(agent, [], {
      answers: answer(asked.pending[1]?.id, true),
      session,
      stream,
    })
    expect(ran).toEqual(['c2'])
    const { response } = await play(agent, [], {
      answers: answer(asked.pending[0]?.id, true),
      session,
      stream,
    })

    expect(half).toMatchObject({ status: 'paused', pending: [asked.pending[0]] })
    expect(resultsOf(session.messages).map(({ callId }) => callId)).toEqual(['c2', 'c1'])
    expect([ran, response.text]).toEqual([['c2', 'c1'], 'Done.'])
    expect(client.requests).toHaveLength(2)
  })

  it('answers that come one at a time leave the results in the order of the calls', async () => {
    const { agent, client, ran, session } = make([[gated('a'), gated('b'), gated('c')], 'Done.'])
    const { response: asked } = await play(agent, 'Go', { session, stream })

    for (const n of [2, 0, 1]) {
      const answers = answer(asked.pending[n]?.id, true)
      // oxlint-disable-next-line no-await-in-loop
      await play(agent, [], { answers, session, stream })
    }

    expect(ran).toEqual(['c', 'a', 'b'])
    const read = resultsOf(client.requests[1]!.messages)
    expect(read.map(({ callId }) => callId)).toEqual(['a', 'b', 'c'])
  })

  it('a request whose call is removed from the session is closed by the next run', async () => {
    const { agent, ran, session } = make([gated('a'), 'Hello.'])
    const { response: asked } = await play(agent, 'Go', { session, stream })
    session.messages = session.messages.slice(0, 1)

    await play(agent, [], { session, stream })

    expect(session.pending).toEqual([])
    const late = play(agent, [], { answers: answer(asked.pending[0]?.id, true), session, stream })
    await expect(late).rejects.toMatchObject({ code: 'approval_invalid' })
    expect(ran).toEqual([])
  })

  it('an agent middleware that runs everything once more meets the same pause', async () => {
    const { client, ran, session, tools } = make([gated('c1'), 'Done.'])
    const again = agentMiddleware('again', async (_, callNext) => {
      const first = await callNext()
      if (first.status === 'paused') await callNext()
    })
    const agent = new Agent({ client, tools, middleware: again })

    const { response: asked } = await play(agent, 'Go', { session, stream })
    const { response } = await play(agent, [], {
      answers: answer(asked.pending[0]?.id, true),
      session,
      stream,
    })

    expect(asked).toMatchObject({ status: 'paused', pending: [{ kind: 'approval' }] })
    expect([ran, response.text]).toEqual([['c1'], 'Done.'])
    expect(client.requests).toHaveLength(2)
  })

  it('an agent middleware that runs everything once more does not execute an approved call again', async () => {
    const { client, ran, tools, session } = make([gated('c1'), 'Bad.', 'Good.'])
    const again = agentMiddleware('again', async (_, callNext) => {
      const { text } = await callNext()
      if (text === 'Bad.') await callNext()
    })
    const agent = new Agent({ client, tools, middleware: again })
    const { response: asked } = await play(agent, 'Go', { session, stream })

    const { response } = await play(agent, [], {
      answers: answer(asked.pending[0]?.id, true),
      session,
      stream,
    })

    expect(ran).toEqual(['c1'])
    expect(outline(response.messages)).toEqual(['tool: c1 = ', 'assistant: Good.'])
    expect(outline(client.requests[2]!.messages)).toEqual([
      'user: Go',
      'assistant: gated(c1)',
      'tool: c1 = ',
    ])
  })
})

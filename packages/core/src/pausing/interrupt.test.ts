import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { Middleware, MiddlewareInput, RunContext } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  createSession,
  functionMiddleware,
  tool,
} from '../index.ts'
import { failureOf, modes, outline, play, playOn } from '../loop/loop-invariant.test-helper.ts'
import { Journal } from '../run/journal.ts'
import { shouting } from '../stream/shouting.test-helper.ts'

type Level = Middleware['level']

describe.each(modes)('run.interrupt, $name', ({ stream }) => {
  function make(steps: readonly ScriptedStep[], middleware: MiddlewareInput) {
    const client = scriptedClient(steps)
    const ran: string[] = []
    const work = tool({
      name: 'work',
      description: '',
      execute: (_, { callId }) => {
        ran.push(callId)
        return `did ${callId}`
      },
    })
    return { client, ran, agent: new Agent({ client, tools: [work], middleware }) }
  }

  const work = (callId: string) => callFunction('work', {}, callId)

  /** Asks before or after `callNext()`, and writes down what it did. */
  function asking(
    level: Level,
    when: 'before' | 'after',
    log: unknown[],
    only: (context: { run: RunContext }) => boolean = () => true,
  ): Middleware {
    const process = async (
      context: { run: RunContext },
      callNext: () => Promise<unknown>,
    ): Promise<void> => {
      const ask = async () => {
        log.push('asks')
        log.push(await context.run.interrupt({ question: `${level} ${when}` }))
      }
      if (!only(context)) return void (await callNext())
      if (when === 'before') await ask()
      await callNext()
      if (when === 'after') await ask()
      log.push('done')
    }
    return { level, name: 'asking', process }
  }

  const round =
    (iteration: number) =>
    ({ run }: { run: RunContext }) =>
      run.iteration === iteration

  it.each<[Level, 'before' | 'after', number]>([
    ['agent', 'before', 0],
    ['agent', 'after', 0],
    ['chat', 'before', 0],
    ['chat', 'after', 0],
    ['chat', 'before', 1],
    ['chat', 'after', 1],
    ['function', 'before', 0],
    ['function', 'after', 0],
    ['function', 'before', 1],
    ['function', 'after', 1],
  ])(
    'in a middleware of level %s %s callNext(), in round %i, pauses; the middleware is entered again and nothing is done twice',
    async (level, when, iteration) => {
      const log: unknown[] = []
      const only = level === 'agent' ? undefined : round(iteration)
      const { agent, client, ran } = make(
        [work('c1'), work('c2'), 'Done.'],
        asking(level, when, log, only),
      )

      const { response: paused } = await play(agent, 'Go', { stream })
      expect(paused).toMatchObject({
        status: 'paused',
        pending: [{ kind: 'interrupt', payload: { question: `${level} ${when}` } }],
      })
      const { response } = await playOn(
        agent,
        paused.checkpoint,
        { [paused.pending[0]!.id]: 'yes' },
        { stream },
      )

      expect(log).toEqual(['asks', 'asks', 'yes', 'done'])
      expect(response).toMatchObject({ status: 'completed', text: 'Done.' })
      expect(ran).toEqual(['c1', 'c2'])
      expect(client.requests).toHaveLength(3)
      expect(response.usage.totalTokens).toBe(45)
      const all = [...paused.messages, ...response.messages]
      expect(outline(level === 'agent' ? response.messages : all)).toEqual([
        'assistant: work(c1)',
        'tool: c1 = did c1',
        'assistant: work(c2)',
        'tool: c2 = did c2',
        'assistant: Done.',
      ])
    },
  )

  it('agent middlewares outside see the pause as a result', async () => {
    const seen: unknown[] = []
    const outer = agentMiddleware(
      'outer',
      async (_, callNext) => void seen.push((await callNext()).status),
    )
    const { agent } = make([work('c1')], [outer, asking('chat', 'before', [])])

    await play(agent, 'Go', { stream })

    expect(seen).toEqual(['paused'])
  })

  it('without an answer stays open under its id', async () => {
    const log: unknown[] = []
    const { agent, client } = make(['Done.'], asking('chat', 'after', log))
    const { response: paused } = await play(agent, 'Go', { stream })

    const { response: still } = await playOn(agent, paused.checkpoint, {}, { stream })
    const { response } = await playOn(
      agent,
      still.checkpoint,
      { [paused.pending[0]!.id]: 1 },
      { stream },
    )

    expect(still.pending).toEqual(paused.pending)
    expect(response.text).toBe('Done.')
    expect(client.requests).toHaveLength(1)
  })

  it('asked twice by one middleware is answered in order, and the first answer is kept', async () => {
    const answers: unknown[] = []
    const twice = functionMiddleware('twice', async ({ run }, callNext) => {
      const first = await run.interrupt('Sure?')
      await callNext()
      answers.push(first, await run.interrupt('Sure?'))
    })
    const { agent, ran } = make([work('c1'), 'Done.'], twice)
    const { response: one } = await play(agent, 'Go', { stream })
    const { response: two } = await playOn(
      agent,
      one.checkpoint,
      { [one.pending[0]!.id]: 'yes' },
      { stream },
    )
    const { response: stays } = await playOn(agent, two.checkpoint, {}, { stream })

    const { response } = await playOn(
      agent,
      stays.checkpoint,
      { [two.pending[0]!.id]: 'very' },
      { stream },
    )

    expect(answers).toEqual(['yes', 'very'])
    expect(ran).toEqual(['c1'])
    expect(response.text).toBe('Done.')
  })

  it('by a middleware that has second thoughts before it calls inward again keeps what had finished', async () => {
    let passes = 0
    const outer = functionMiddleware('outer', async ({ run }, callNext) => {
      if (++passes === 2) await run.interrupt('Second thoughts?')
      await callNext()
    })
    const { agent, ran } = make([work('c1'), 'Done.'], [outer, asking('function', 'after', [])])

    let { response } = await play(agent, 'Go', { stream })
    for (let resumed = 0; response.status === 'paused' && resumed < 5; resumed++) {
      const [pending] = response.pending.slice(-1)
      const answers = { [pending!.id]: 1 }
      ;({ response } = await playOn(agent, response.checkpoint, answers, { stream }))
    }

    expect(response.text).toBe('Done.')
    expect([ran, passes]).toEqual([['c1'], 3])
  })

  it('the same question in parallel calls gets the answer of its own call, in any order', async () => {
    const answered: unknown[] = []
    const ask = functionMiddleware('ask', async ({ run, callId }, callNext) => {
      await Promise.resolve()
      answered.push([callId, await run.interrupt('Allowed?')])
      await callNext()
    })
    const { agent, ran } = make([[work('c1'), work('c2'), work('c3')], 'Done.'], ask)
    const { response: paused } = await play(agent, 'Go', { stream })
    expect(paused.pending).toHaveLength(3)
    const [first, second, third] = paused.pending.map(({ id }) => id)

    const { response: one } = await playOn(
      agent,
      paused.checkpoint,
      { [second!]: 'second' },
      { stream },
    )
    const { response: two } = await playOn(agent, one.checkpoint, { [third!]: 'third' }, { stream })
    const { response } = await playOn(agent, two.checkpoint, { [first!]: 'first' }, { stream })

    expect(answered).toEqual([
      ['c2', 'second'],
      ['c3', 'third'],
      ['c1', 'first'],
    ])
    expect(ran).toEqual(['c2', 'c3', 'c1'])
    expect(response.text).toBe('Done.')
  })

  it('siblings of a call that asks finish, and are not run again', async () => {
    const ask = functionMiddleware('ask', async ({ run, callId }, callNext) => {
      if (callId === 'c2') await run.interrupt('Allowed?')
      await callNext()
    })
    const { agent, ran } = make([[work('c1'), work('c2'), work('c3')], 'Done.'], ask)
    const { response: paused } = await play(agent, 'Go', { stream })
    expect(outline(paused.messages)[1]).toBe('tool: c1 = did c1, c3 = did c3')

    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: 1 },
      { stream },
    )

    expect(ran).toEqual(['c1', 'c3', 'c2'])
    expect(outline(response.messages)).toEqual(['tool: c2 = did c2', 'assistant: Done.'])
    expect(new Journal(paused.checkpoint!.journal).loop).toMatchObject({ functionCalls: 2 })
  })

  it('an approval that was given is not asked for again when a middleware of the call asks as well', async () => {
    const client = scriptedClient([callFunction('gated', {}, 'c1'), 'Done.'])
    const ran: unknown[] = []
    const gated = tool({
      name: 'gated',
      description: '',
      approval: 'always',
      execute: (args) => void ran.push(args),
    })
    const ask = functionMiddleware('ask', async ({ run }, callNext) => {
      await run.interrupt('Really?')
      await callNext()
    })
    const agent = new Agent({ client, tools: [gated], middleware: ask })
    const { response: one } = await play(agent, 'Go', { stream })
    const yes = { approved: true, arguments: { edited: true } }

    const { response: two } = await playOn(
      agent,
      one.checkpoint,
      { [one.pending[0]!.id]: yes },
      { stream },
    )
    expect(two.pending).toMatchObject([{ kind: 'interrupt', payload: 'Really?' }])
    const { response } = await playOn(
      agent,
      two.checkpoint,
      { [two.pending[0]!.id]: true },
      { stream },
    )

    expect(ran).toEqual([{ edited: true }])
    expect(response.text).toBe('Done.')
  })

  it('a tool may ask too', async () => {
    const client = scriptedClient([callFunction('order', {}, 'c1'), 'Done.'])
    const order = tool({
      name: 'order',
      description: '',
      execute: async (_, { run }) => `a ${await run.interrupt<string>({ size: ['S', 'L'] })}`,
    })
    const agent = new Agent({ client, tools: [order] })
    const { response: paused } = await play(agent, 'Go', { stream })

    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: 'L' },
      { stream },
    )

    expect(outline(response.messages)[0]).toBe('tool: c1 = a L')
  })

  it('a pause before anything was said leaves the session as it was, and loses nothing', async () => {
    const session = createSession({ messages: [] })
    const { agent, client } = make(['Hi.', 'Done.'], [])
    await play(agent, 'Hello', { session, stream })
    const before = session.messages
    const middleware = asking('agent', 'before', [])

    const { response: paused } = await play(agent, 'Go', { session, middleware, stream })
    expect(session.messages).toBe(before)
    const answers = { [paused.pending[0]!.id]: 1 }
    await playOn(agent, paused.checkpoint, answers, { session, middleware, stream })

    expect(outline(client.requests[1]!.messages)).toEqual([
      'user: Hello',
      'assistant: Hi.',
      'user: Go',
    ])
    expect(outline(session.messages)).toEqual([
      'user: Hello',
      'assistant: Hi.',
      'user: Go',
      'assistant: Done.',
    ])
  })

  it('an answer counts once, also if the run only asks the next question', async () => {
    const twice = agentMiddleware('twice', async ({ run }, callNext) => {
      await run.interrupt('One?')
      await run.interrupt('Two?')
      await callNext()
    })
    const { agent } = make(['Done.'], twice)
    const { response: paused } = await play(agent, 'Go', { stream })
    const answers = { [paused.pending[0]!.id]: 1 }
    const { response: next } = await playOn(agent, paused.checkpoint, answers, { stream })

    const error = await failureOf(playOn(agent, paused.checkpoint, answers, { stream }))

    expect([next.status, error]).toMatchObject(['paused', { code: 'approval_used' }])
  })

  it('an answer counts once where the run fails after the model has answered', async () => {
    const sure = agentMiddleware('sure', async ({ run }, callNext) => {
      await run.interrupt('Sure?')
      await callNext()
    })
    const failing = functionMiddleware('failing', () => Promise.reject(new TypeError('cut')))
    const { agent } = make([work('c1')], [sure, failing])
    const { response: paused } = await play(agent, 'Go', { stream })
    const answers = { [paused.pending[0]!.id]: 1 }
    await expect(playOn(agent, paused.checkpoint, answers, { stream })).rejects.toThrow('cut')

    const error = await failureOf(playOn(agent, paused.checkpoint, answers, { stream }))

    expect(error).toMatchObject({ code: 'approval_used' })
  })

  it('a pause before the loop loses nothing of what the loop says', async () => {
    const { agent, client } = make([work('c1'), 'Done.'], asking('agent', 'before', []))
    const { response: paused } = await play(agent, 'Go', { stream })

    await playOn(agent, paused.checkpoint, { [paused.pending[0]!.id]: 1 }, { stream })

    expect(outline(client.requests[1]!.messages)).toEqual([
      'user: Go',
      'assistant: work(c1)',
      'tool: c1 = did c1',
    ])
  })

  it('a second pause, before the loop continues, repeats and loses nothing', async () => {
    let asks = false
    const again = agentMiddleware('again', async ({ run }, callNext) => {
      if (asks) await run.interrupt('Again?')
      await callNext()
    })
    const sure = functionMiddleware('sure', async ({ run }, callNext) => {
      await run.interrupt('Sure?')
      await callNext()
    })
    const { agent, client } = make([work('c1'), 'Done.'], [again, sure])
    const { response: first } = await play(agent, 'Go', { stream })
    asks = true
    const yes = { [first.pending[0]!.id]: 1 }
    const { response: second } = await playOn(agent, first.checkpoint, yes, { stream })

    await playOn(agent, second.checkpoint, { [second.pending[0]!.id]: 1 }, { stream })

    expect(outline(client.requests[1]!.messages)).toEqual([
      'user: Go',
      'assistant: work(c1)',
      'tool: c1 = did c1',
    ])
  })

  it('tools that a middleware hides after a pause stay hidden', async () => {
    const hiding = agentMiddleware('hiding', async ({ run }, callNext) => {
      await run.interrupt('Sure?')
      run.tools.hide('work')
      await callNext()
    })
    const { agent, client } = make(['Done.'], hiding)
    const { response: paused } = await play(agent, 'Go', { stream })

    await playOn(agent, paused.checkpoint, { [paused.pending[0]!.id]: true }, { stream })

    expect(client.requests[0]!.options.tools ?? []).toEqual([])
  })

  it('the end of the loop repeats in a checkpoint neither what was said nor what an SDK returned', async () => {
    const { agent } = make([{ messages: 'Done.', raw: { huge: 1n } }], asking('agent', 'after', []))

    const { response: paused } = await play(agent, 'Go', { stream })

    const end = paused.checkpoint?.journal.find(({ kind }) => kind === 'end')
    expect(end).toMatchObject({ response: { messages: [], text: '', status: 'completed' } })
    expect(JSON.stringify(end)).not.toContain('huge')
  })

  it('an answer of before the pause counts once, also where an agent middleware runs everything again', async () => {
    let failures = 0
    const again = agentMiddleware('again', async (_, callNext) => {
      await callNext().catch(callNext)
    })
    const drafts = chatMiddleware('drafts', async ({ run }, callNext) => {
      if (failures-- > 0) throw new Error('busy')
      await callNext()
      await run.interrupt('Once more?')
      await callNext()
    })
    const { agent, client } = make(['Draft.', 'Better.'], [again, drafts])
    const { response: paused } = await play(agent, 'Go', { stream })
    failures = 1

    const answers = { [paused.pending[0]!.id]: 'yes' }
    const { response } = await playOn(agent, paused.checkpoint, answers, { stream })

    expect(response.text).toBe('Better.')
    expect(client.requests).toHaveLength(2)
  })

  it('a pause after the loop, with a session, keeps every message once, as the middlewares left it', async () => {
    const session = createSession()
    const shout = agentMiddleware('shout', async (context, callNext) => {
      context.transformUpdates(shouting)
      await callNext()
    })
    const middleware = [shout, asking('agent', 'after', [])]
    const { agent } = make([work('c1'), 'Done.'], middleware)

    const { response: one } = await play(agent, 'Go', { session, stream })
    const { response: two } = await playOn(agent, one.checkpoint, {}, { session, stream })
    const answers = { [two.pending[0]!.id]: 1 }
    const { response } = await playOn(agent, two.checkpoint, answers, { session, stream })

    expect(response).toMatchObject({ status: 'completed', text: 'DONE.' })
    expect(outline(session.messages)).toEqual([
      'user: Go',
      'assistant: work(c1)',
      'tool: c1 = did c1',
      'assistant: DONE.',
    ])
  })

  it('so it does where results were put among older messages', async () => {
    const client = scriptedClient([callFunction('gated', {}, 'c1'), 'Rome.', 'Done.'])
    const gated = tool({ name: 'gated', description: '', approval: 'always', execute: () => 'ok' })
    const session = createSession()
    const agent = new Agent({ client, tools: [gated] })
    const { response: asked } = await play(agent, 'Go', { session, stream })
    await play(agent, 'Capital of Italy?', { session, stream })
    const middleware = asking('agent', 'after', [])
    const yes = { [asked.pending[0]!.id]: true }

    const { response: paused } = await play(agent, [], {
      session,
      middleware,
      answers: yes,
      stream,
    })
    const answers = { [paused.pending[0]!.id]: 1 }
    await playOn(agent, paused.checkpoint, answers, { session, middleware, stream })

    expect(outline(session.messages)).toEqual([
      'user: Go',
      'assistant: gated(c1), approve c1?',
      'tool: c1 = ok',
      'user: Capital of Italy?',
      'assistant: Rome.',
      'assistant: Done.',
    ])
  })

  it('pauses at several levels follow one another', async () => {
    const log: unknown[] = []
    const only = round(0)
    const middlewares = [
      asking('agent', 'before', log),
      asking('agent', 'after', log),
      asking('chat', 'before', log, only),
      asking('chat', 'after', log, only),
      asking('function', 'after', log, only),
    ]
    const { agent, client, ran } = make([work('c1'), 'Done.'], middlewares)

    const questions: unknown[] = []
    let { response } = await play(agent, 'Go', { stream })
    while (response.status === 'paused' && questions.length < 10) {
      const [pending] = response.pending
      questions.push(pending?.kind === 'interrupt' && pending.payload)
      ;({ response } = await playOn(
        agent,
        response.checkpoint,
        { [pending!.id]: questions.length },
        { stream },
      ))
    }

    expect(questions).toEqual([
      { question: 'agent before' },
      { question: 'chat before' },
      { question: 'chat after' },
      { question: 'function after' },
      { question: 'agent after' },
    ])
    expect(response).toMatchObject({ status: 'completed', text: 'Done.' })
    expect([ran, client.requests.length]).toEqual([['c1'], 2])
  })

  it('an update of an answer that the pause holds back is withdrawn, and comes again', async () => {
    const transform = chatMiddleware('pass', async (context, callNext) => {
      context.transformUpdates({ transform: (update, controller) => controller.enqueue(update) })
      await callNext()
    })
    const { agent } = make(['One two three.'], [asking('chat', 'after', []), transform])

    const { response: paused, updates } = await play(agent, 'Go', { stream })
    const { response } = await playOn(
      agent,
      paused.checkpoint,
      { [paused.pending[0]!.id]: 1 },
      { stream },
    )

    expect(updates.some(({ restart }) => restart === true)).toBe(stream)
    expect([paused.messages, response.text]).toEqual([[], 'One two three.'])
  })
})

import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { interceptLoop } from '../authoring.ts'
import type {
  AgentResponse,
  Content,
  Message,
  MessageInput,
  Middleware,
  RunOptions,
  Session,
} from '../index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  createSession,
  message,
  messageText,
  MiddlewareTermination,
  text,
  textOf,
  tool,
} from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'

const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })

const ownCall = {
  messages: [{ role: 'assistant' as const, contents: [callFunction('look', {}, 'own')] }],
}

/** A client of a provider that keeps the conversation under one id. */
function keeping(answers: readonly string[]) {
  return scriptedClient(
    answers.map((contents) => ({
      messages: [{ role: 'assistant' as const, contents }],
      conversationId: 'conv_1',
    })),
    { provider: 'keeper' },
  )
}

describe.each([
  ['plain', false],
  ['streamed', true],
] as const)('a conversation that a provider keeps, %s', (_mode, stream) => {
  function run(agent: Agent, input: MessageInput, options: RunOptions): Promise<AgentResponse> {
    return stream
      ? agent.run(input, { ...options, stream }).finalResponse()
      : agent.run(input, options)
  }

  function said(messages: readonly Message[] | undefined): readonly string[] {
    return (messages ?? []).map(messageText)
  }

  it('is told in full to another provider, which gets no id of it', async () => {
    const keeper = keeping(['one', 'three'])
    const other = scriptedClient(['two'], { provider: 'other' })
    const session: Session = createSession()

    await run(new Agent({ client: keeper }), 'first', { session })
    await run(new Agent({ client: other }), 'second', { session })

    expect(said(other.requests[0]?.messages)).toEqual(['first', 'one', 'second'])
    expect(other.requests[0]?.options.conversationId).toBeUndefined()
    expect(session).toMatchObject({ conversationId: 'conv_1', keeper: 'keeper', sent: 2 })
  })

  it('continues another conversation of the provider, if the caller says so', async () => {
    const keeper = keeping(['one', 'two'])
    const session: Session = createSession()
    const agent = new Agent({ client: keeper })

    await run(agent, 'first', { session })
    await run(agent, 'second', { session, options: { conversationId: 'conv_2' } })

    expect(said(keeper.requests[1]!.messages)).toEqual(['second'])
    expect(keeper.requests[1]!.options.conversationId).toBe('conv_2')
  })

  it('continues one that the caller names for a session that was kept nowhere', async () => {
    const keeper = keeping(['two'])
    const session: Session = createSession()

    await run(new Agent({ client: scriptedClient(['one']) }), 'first', { session })
    const options = { conversationId: 'conv_1' }
    await run(new Agent({ client: keeper }), 'second', { session, options })

    expect(said(keeper.requests[0]!.messages)).toEqual(['second'])
  })

  it('continues one that a session names without its provider', async () => {
    const keeper = keeping(['two'])
    const messages = [message('user', 'first'), message('assistant', 'one')]
    const session = createSession({ messages, conversationId: 'conv_1' })

    await run(new Agent({ client: keeper }), 'second', { session })

    expect(said(keeper.requests[0]!.messages)).toEqual(['second'])
    expect(keeper.requests[0]!.options.conversationId).toBe('conv_1')
  })

  it('tells all of it to another provider that the caller names a conversation of', async () => {
    const other = scriptedClient(['two'], { provider: 'other' })
    const session: Session = createSession()

    await run(new Agent({ client: keeping(['one']) }), 'first', { session })
    const options = { conversationId: 'conv_2' }
    await run(new Agent({ client: other }), 'second', { session, options })

    expect(said(other.requests[0]!.messages)).toEqual(['first', 'one', 'second'])
  })

  it('continues after a call without tools', async () => {
    const keeper = keeping(['one', 'two'])
    const session = createSession()
    const options = { toolChoice: 'none' } as const

    await run(new Agent({ client: keeper, options }), 'first', { session })
    await run(new Agent({ client: keeper, options }), 'second', { session })

    expect(said(keeper.requests[1]?.messages)).toEqual(['second'])
    expect(keeper.requests[1]?.options.conversationId).toBe('conv_1')
  })

  it('continues where it is kept with what was said elsewhere', async () => {
    const keeper = keeping(['one', 'three'])
    const other = scriptedClient(['two'], { provider: 'other' })
    const first = createSession()
    await run(new Agent({ client: keeper }), 'first', { session: first })
    await run(new Agent({ client: other }), 'second', { session: first })
    const session = createSession(JSON.parse(JSON.stringify(first)) as Session)

    await run(new Agent({ client: keeper }), 'third', { session })

    expect(said(keeper.requests[1]?.messages)).toEqual(['second', 'two', 'third'])
    expect(keeper.requests[1]?.options.conversationId).toBe('conv_1')
    expect(session).toMatchObject({ conversationId: 'conv_1', keeper: 'keeper', sent: 6 })
  })

  it.each([
    [
      'a middleware, after the provider has failed',
      chatMiddleware('relief', async (context, callNext) => {
        await callNext().catch(() => {
          context.result = ownCall
        })
      }),
      [new Error('down')],
    ],
    [
      'a middleware that skips the model call',
      agentMiddleware('skip', async (context, callNext) => {
        interceptLoop(context.run, {
          name: 'skip',
          async iteration(round, next) {
            round.skipModelCall = round.iteration === 1
            round.overrideResponse = ownCall
            await next()
          },
        })
        await callNext()
      }),
      [],
    ],
  ] as const satisfies readonly (readonly [string, Middleware, readonly Error[]])[])(
    'is told what stands there of %s',
    async (_, middleware, failures) => {
      const kept = (contents: string | readonly Content[]) => ({
        messages: [{ role: 'assistant' as const, contents }],
        conversationId: 'conv_1',
      })
      const client = scriptedClient([
        kept([callFunction('look', {}, 'c1')]),
        ...failures,
        kept('Done.'),
      ])

      await run(new Agent({ client, tools: [look], middleware }), 'Go', {})

      const { messages, options } = client.requests.at(-1)!
      expect(options.conversationId).toBe('conv_1')
      expect(
        messages.flatMap(({ contents }) =>
          contents.map((content) => [content.type, 'callId' in content && content.callId]),
        ),
      ).toEqual([
        ['function-result', 'c1'],
        ['function-call', 'own'],
        ['function-result', 'own'],
      ])
    },
  )

  it('is sent in full, and to a guest once, after a hook has changed an answer', async () => {
    const keeper = scriptedClient(
      [
        {
          messages: [{ role: 'assistant', contents: [callFunction('look', {}, 'c1')] }],
          conversationId: 'conv_1',
        },
        'two',
      ],
      { provider: 'keeper' },
    )
    const guest = scriptedClient(['two'], { provider: 'guest' })
    const change = lifecycle({
      name: 'change',
      afterModelCall: ({ run: { messages } }) =>
        messages.rewrite((all) => all.map((entry) => ({ ...entry }))),
    })
    const swap = chatMiddleware('swap', async (context, callNext) => {
      context.options = { ...context.options, conversationId: 'conv_2' }
      if (context.iteration === 1) context.client = guest
      await callNext()
    })

    await run(new Agent({ client: keeper, tools: [look], middleware: change }), 'first', {})
    const agent = new Agent({
      client: scriptedClient([
        {
          messages: [{ role: 'assistant', contents: [callFunction('look', {}, 'c1')] }],
          conversationId: 'conv_1',
        },
      ]),
      tools: [look],
      middleware: [change, swap],
    })
    await run(agent, 'first', {})

    for (const { messages, options } of [keeper.requests[1]!, guest.requests[0]!]) {
      expect(options.conversationId).toBeUndefined()
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    }
  })

  it.each([1, 2])('that a middleware names is told once to a guest, in turn %i', async (turn) => {
    const guest = scriptedClient(['two'], { provider: 'guest' })
    const name = chatMiddleware('name', async (context, callNext) => {
      context.options = { ...context.options, conversationId: 'conv_1' }
      await callNext()
    })
    const swap = chatMiddleware('swap', async (context, callNext) => {
      if (context.iteration === turn - 1) context.client = guest
      await callNext()
    })
    const client = scriptedClient([callFunction('look', {}, 'c1')])
    const agent = new Agent({ client, tools: [look], middleware: [name, swap] })
    const session = createSession({
      messages: [message('user', 'first'), message('assistant', 'one')],
    })

    await run(agent, 'second', { session })

    expect(guest.requests[0]!.options.conversationId).toBeUndefined()
    expect(guest.requests[0]!.messages.map(({ id }) => id)).toEqual(
      session.messages.slice(0, -1).map(({ id }) => id),
    )
  })

  it('is told in full to a client that a middleware puts in place within a run', async () => {
    const keeper = scriptedClient(
      [
        { messages: [{ role: 'assistant', contents: 'one' }], conversationId: 'conv_1' },
        {
          messages: [{ role: 'assistant', contents: [callFunction('look', {}, 'c1')] }],
          conversationId: 'conv_1',
        },
        { messages: [{ role: 'assistant', contents: 'three' }], conversationId: 'conv_1' },
      ],
      { provider: 'keeper' },
    )
    const guest = scriptedClient(['two'], { provider: 'guest' })
    const session = createSession()
    const relief = chatMiddleware('relief', async (context, callNext) => {
      if (context.iteration === 1) context.client = guest
      await callNext()
    })
    const agent = new Agent({ client: keeper, tools: [look], middleware: relief })
    await run(agent, 'first', { session })

    await run(agent, 'second', { session })
    await run(agent, 'third', { session })

    expect(guest.requests[0]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'tool',
    ])
    expect(guest.requests[0]?.options.conversationId).toBeUndefined()
    expect(keeper.requests[2]?.messages.map(({ role }) => role)).toEqual([
      'tool',
      'assistant',
      'user',
    ])
  })
})

describe('a conversation that the provider keeps, with an open approval', () => {
  /** Refuses a conversation with a call that has no result, as the Responses API does. */
  function keeper() {
    const kept = new Map<string, readonly Message[]>()
    return scriptedClient(({ messages, options }) => {
      const all = [...(kept.get(String(options.conversationId)) ?? []), ...messages]
      const parts = all.flatMap(({ contents }) => contents)
      const calls = parts.filter(({ type }) => type === 'function-call')
      const results = parts.filter(({ type }) => type === 'function-result')
      if (calls.length !== results.length) throw new Error('400 No tool output found')
      const isPaying = textOf(messages.at(-1)!.contents) === 'Pay.'
      const content = isPaying ? callFunction('pay') : ({ type: 'text', text: 'Sure.' } as const)
      const said = { id: `said-${kept.size}`, role: 'assistant', contents: [content] } as const
      const conversationId = `kept-${kept.size}`
      kept.set(conversationId, [...all, said])
      return { messages: [said], conversationId }
    })
  }

  it('answers what the user says meanwhile, and the call runs when it is approved', async () => {
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
    const agent = new Agent({ client: keeper(), tools: [pay] })
    const session = createSession()
    const { pending } = await agent.run('Pay.', { session })

    expect((await agent.run('How much is it?', { session })).text).toBe('Sure.')
    expect((await agent.run('Hello?', { session })).text).toBe('Sure.')
    const answered = await agent.run([], { session, answers: { [pending[0]!.id]: true } })

    expect(answered.status).toBe('completed')
    expect(JSON.stringify(session.messages)).toContain('paid')
    expect((await agent.run('Thanks.', { session })).text).toBe('Sure.')
  })
})

describe('a conversation that the provider keeps, out of step with the session', () => {
  const kept = (contents: readonly Content[]) => ({
    messages: [{ role: 'assistant' as const, contents }],
    conversationId: 'kept',
  })

  it('is sent in full after a termination has replaced an answer', async () => {
    const client = scriptedClient(['Hello.', 'Secret.', 'Fine.'].map((said) => kept([text(said)])))
    const replace = chatMiddleware('replace', async (context, callNext) => {
      await callNext()
      if (context.result?.text === 'Secret.') {
        throw new MiddlewareTermination('replaced', { result: 'Public.' })
      }
    })
    const agent = new Agent({ client, middleware: replace })
    const session = createSession()

    await agent.run('Hi', { session })
    await agent.run('Tell me', { session })
    const { keeper, sent } = session
    await agent.run('And now?', { session })

    const { messages, options } = client.requests[2]!
    expect([keeper, sent]).toEqual([undefined, undefined])
    expect(options.conversationId).toBeUndefined()
    expect(messages.map(messageText)).toEqual(['Hi', 'Hello.', 'Tell me', 'Public.', 'And now?'])
  })

  it('is sent in full after a termination has withheld an answer', async () => {
    const client = scriptedClient(['Hello.', 'Secret.', 'Fine.'].map((said) => kept([text(said)])))
    const withhold = agentMiddleware('withhold', async (context, callNext) => {
      await callNext()
      if (context.result?.text === 'Secret.') throw new MiddlewareTermination('withheld')
    })
    const agent = new Agent({ client, middleware: withhold })
    const session = createSession()

    await agent.run('Hi', { session })
    await agent.run('Tell me', { session })
    await agent.run('And now?', { session })

    const { messages, options } = client.requests[2]!
    expect(options.conversationId).toBeUndefined()
    expect(messages.map(messageText)).toEqual(['Hi', 'Hello.', 'Tell me', 'And now?'])
  })

  it.each([1, 2])(
    'is sent in full, or with a result, after a call that may not run (%s)',
    async (limit) => {
      const client = scriptedClient([
        ...Array.from({ length: limit + 1 }, (_, n) => kept([callFunction('look', {}, `c${n}`)])),
        kept([text('Hello.')]),
      ])
      const agent = new Agent({
        client,
        tools: [look],
        functionInvocation: { maxIterations: limit },
      })
      const session = createSession()

      await agent.run('Look', { session })
      await agent.run('And now?', { session })

      const { messages, options } = client.requests.at(-1)!
      const parts = messages.flatMap(({ contents }) => contents)
      const answered = parts.some(
        (part) => part.type === 'function-result' && part.callId === `c${limit}`,
      )
      expect(options.conversationId === undefined || answered).toBe(true)
    },
  )
})

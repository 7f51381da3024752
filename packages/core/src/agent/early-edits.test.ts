import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentContext, Middleware, MiddlewareInput } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  createSession,
  functionMiddleware,
  hostedTool,
  message,
  messageText,
  tool,
} from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'

function setUp(edit: (context: AgentContext) => unknown, ...inside: MiddlewareInput[]) {
  const ran: string[] = []
  const make = (name: string) =>
    tool({ name, description: name, execute: () => void ran.push(name) })
  const client = scriptedClient([[callFunction('drop'), callFunction('look')], 'Done.', 'Again.'])
  const middleware = [lifecycle({ name: 'edit', beforeTurn: edit as never }), ...inside]
  const agent = new Agent({ client, tools: [make('drop'), make('look')], middleware })
  const offered = () => client.requests[0]!.options.tools?.map(({ name }) => name) ?? []
  return { agent, client, ran, offered, make }
}

describe.each(runModes)('edits before a run, %s', (mode) => {
  it.each<[string, (context: AgentContext) => void]>([
    ['run.tools', ({ run }) => run.tools.remove('drop')],
    [
      'context.tools',
      (context) => {
        context.tools = context.tools.filter(({ name }) => name !== 'drop')
      },
    ],
    [
      'context.options.tools',
      (context) => {
        const tools = context.options.tools!.filter(({ name }) => name !== 'drop')
        context.options = { ...context.options, tools }
      },
    ],
  ])('a tool that is removed by %s is neither offered nor executed', async (_, edit) => {
    const { agent, ran, offered } = setUp(edit)

    await runIn(mode, agent)

    expect([offered(), ran]).toEqual([['look'], ['look']])
  })

  it('a tool that is added by run.tools is offered and executed', async () => {
    const { agent, ran, offered, make } = setUp(({ run }) => run.tools.add(make('third')))
    const client = scriptedClient([callFunction('third'), 'Done.'])

    await runIn(mode, agent)
    await runIn(mode, new Agent({ client, middleware: agent.middleware }))

    expect(offered()).toEqual(['drop', 'look', 'third'])
    expect(ran).toEqual(['drop', 'look', 'third'])
  })

  it('options that are replaced without tools leave the tools alone', async () => {
    const { agent, offered } = setUp((context) => {
      context.options = { temperature: 0 }
    })

    await runIn(mode, agent)

    expect(offered()).toEqual(['drop', 'look'])
  })

  it('an edit of the tools is undone once when an outer middleware runs the inside again', async () => {
    let attempts = 0
    const once = agentMiddleware('once', async (context, callNext) => {
      if (attempts++ === 0) context.tools = []
      await callNext()
    })
    const repeat = agentMiddleware('repeat', async ({ run }, callNext) => {
      await callNext()
      await callNext()
      run.tools.remove('look')
      await callNext()
    })
    const client = scriptedClient(['One.', 'Two.', 'Three.'])
    const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })

    await runIn(mode, new Agent({ client, tools: [look], middleware: [repeat, once] }))

    expect(client.requests.map(({ options }) => options.tools ?? [])).toEqual([[], [look], []])
  })

  it('run.messages shows history and input, and a rewrite is sent and kept by the session', async () => {
    const session = createSession({
      messages: [message('user', 'Old question'), message('assistant', 'Old answer')],
    })
    let seen: string[] = []
    const { agent, client } = setUp(({ run }) => {
      seen = run.messages.all.map(messageText)
      const note = message('user', 'Likes tea')
      run.messages.rewrite((messages) => [note, ...messages.slice(1)])
    })

    await runIn(mode, agent, { session })

    expect(seen).toEqual(['Old question', 'Old answer', 'Hello'])
    const sent = client.requests[0]!.messages.map(messageText)
    expect(sent).toEqual(['Likes tea', 'Old answer', 'Hello'])
    expect(session.messages.slice(0, 3).map(messageText)).toEqual(sent)
  })

  it('a rewrite happens once, however often the inside runs', async () => {
    const note = agentMiddleware('note', async ({ run }, callNext) => {
      run.messages.rewrite((messages) => [message('user', 'Note'), ...messages])
      await callNext()
    })
    const twice = agentMiddleware('twice', async (_, callNext) => {
      await callNext()
      await callNext()
    })
    const client = scriptedClient(['One.', 'Two.'])

    await runIn(mode, new Agent({ client, middleware: [twice, note] }))

    expect(client.requests.map(({ messages }) => messages.map(messageText))).toEqual([
      ['Note', 'Hello'],
      ['Note', 'Hello'],
    ])
  })

  it.each<[string, (context: AgentContext) => void]>([
    ['answered', (context) => void (context.result = 'Not now.')],
    [
      'failed',
      () => {
        throw new Error('broken')
      },
    ],
  ])(
    'a rewrite after an inner middleware has %s is sent by another run of the inside',
    async (_, end) => {
      let times = 0
      const outer = agentMiddleware('outer', async ({ run }, callNext) => {
        await callNext().catch(() => {})
        run.messages.rewrite((messages) => [...messages, message('user', 'Please')])
        await callNext()
      })
      const inner = agentMiddleware('inner', async (context, callNext) => {
        if (times++ === 0) end(context)
        else await callNext()
      })
      const client = scriptedClient(['Done.'])

      await runIn(mode, new Agent({ client, middleware: [outer, inner] }))

      expect(client.requests[0]!.messages.map(messageText)).toEqual(['Hello', 'Please'])
    },
  )

  it('run.messages shows what an outer middleware put as a replacement for session and input', async () => {
    let seen: string[] = []
    const outer = agentMiddleware('outer', async (context, callNext) => {
      context.session = createSession({ messages: [message('user', 'Of another session')] })
      context.messages = [message('user', 'Another question')]
      await callNext()
    })
    const inner = agentMiddleware('inner', async ({ run }, callNext) => {
      seen = run.messages.all.map(messageText)
      await callNext()
    })

    await runIn(mode, new Agent({ client: scriptedClient(['Done.']), middleware: [outer, inner] }))

    expect(seen).toEqual(['Of another session', 'Another question'])
  })
})

describe.each(runModes)('edits between two runs of the inside, %s', (mode) => {
  const please = message('user', 'Please')

  it('a rewrite is sent by the second one', async () => {
    const session = createSession()
    const again = agentMiddleware('again', async ({ run }, callNext) => {
      await callNext()
      run.messages.rewrite((messages) => [...messages, please])
      await callNext()
    })
    const client = scriptedClient(['One.', 'Two.'])

    await runIn(mode, new Agent({ client, middleware: again }), { session })

    expect(client.requests[1]!.messages.map(messageText)).toEqual(['Hello', 'Please'])
    expect(session.messages.map(messageText)).toEqual(['Hello', 'Please', 'Two.'])
  })

  it('a rewrite of a middleware that runs again is that of its last time', async () => {
    let times = 0
    const note = agentMiddleware('note', async ({ run }, callNext) => {
      const text = `Note ${++times}`
      run.messages.rewrite((messages) => [...messages, message('user', text)])
      await callNext()
      run.messages.rewrite((messages) => [...messages, message('user', 'Late')])
    })
    const twice = agentMiddleware('twice', async (_, callNext) => {
      await callNext()
      await callNext()
    })
    const client = scriptedClient(['One.', 'Two.'])

    await runIn(mode, new Agent({ client, middleware: [twice, note] }))

    expect(client.requests[1]!.messages.map(messageText)).toEqual(['Hello', 'Note 2'])
  })

  it('the tools are those of the last time, too', async () => {
    let times = 0
    const look = tool({ name: 'look', description: '', execute: () => '' })
    const listen = tool({ name: 'listen', description: '', execute: () => '' })
    const choose = agentMiddleware('choose', async (context, callNext) => {
      context.tools = [++times === 1 ? look : listen]
      await callNext()
    })
    const twice = agentMiddleware('twice', async (_, callNext) => {
      await callNext()
      await callNext()
    })
    const client = scriptedClient(['One.', 'Two.'])
    const middleware = [twice, choose]

    await runIn(mode, new Agent({ client, middleware, tools: [listen] }))

    const offered = client.requests.map(({ options }) => options.tools?.map(({ name }) => name))
    expect(offered).toEqual([['look'], ['listen']])
  })

  it('a call whose middleware has failed can be removed', async () => {
    const session = createSession()
    const { agent, client } = setUp(
      () => {},
      agentMiddleware('apology', async (context, callNext) => {
        await callNext().catch(() => {
          context.run.messages.rewrite((messages) => messages.slice(0, 1))
          context.result = 'Sorry.'
        })
      }),
      functionMiddleware('broken', () => {
        throw new Error('broken')
      }),
    )

    await runIn(mode, agent, { session })

    expect(session.messages.map(messageText)).toEqual(['Hello', 'Sorry.'])
    expect(client.requests).toHaveLength(1)
  })
})

describe.each(runModes)('edits during a run, %s', (mode) => {
  it.each([
    ['fewer tools', ['look'], ['look']],
    ['no tools', [], []],
  ])('beforeIteration may offer %s, and only those run', async (_, offer, expected) => {
    const { agent, ran, offered } = setUp(() => {})
    const filter = lifecycle({
      name: 'filter',
      beforeIteration(context) {
        const tools = context.options.tools!.filter(({ name }) => offer.includes(name))
        context.options = { ...context.options, tools }
      },
    })

    await runIn(mode, agent, { middleware: filter })

    expect([offered(), ran]).toEqual([expected, expected])
  })

  it.each<[string, boolean]>([
    ['shown', false],
    ['left to the search of the provider', true],
  ])(
    'run.tools.remove in a chat middleware takes a tool that is %s out of this call',
    async (_, isDeferred) => {
      const { agent, ran, offered } = setUp(
        ({ run }) => {
          if (!isDeferred) return
          run.tools.add(hostedTool('search', { type: 'tool_search' }))
          run.tools.defer('drop')
        },
        chatMiddleware('remove', async ({ run }, callNext) => {
          run.tools.remove('drop')
          await callNext()
        }),
        lifecycle({ name: 'looks', beforeIteration() {} }),
      )

      await runIn(mode, agent)

      expect(offered()).not.toContain('drop')
      expect(ran).toEqual(['look'])
    },
  )

  it('run.tools.remove after a model call whose request was edited keeps a tool from running', async () => {
    const { agent, ran, make } = setUp(
      () => {},
      chatMiddleware('edit', async (context, callNext) => {
        const { options } = context
        context.options = { ...options, tools: [...options.tools!, make('third')] }
        await callNext()
        context.run.tools.remove('drop')
      }),
    )

    await runIn(mode, agent)

    expect(ran).toEqual(['look'])
  })

  it('a tool that a chat middleware adds to a request runs, also under another name of it', async () => {
    const ran: string[] = []
    const make = (name: string, ...aliases: string[]) =>
      tool({ name, aliases, description: '', execute: () => void ran.push(name) })
    const plain = make('plain', 'simple')
    const client = scriptedClient([
      ['third', 'simple', 'hidden'].map((name) => callFunction(name, {}, name)),
      'Done.',
    ])
    const edit = chatMiddleware('edit', async (context, callNext) => {
      const execute = (): void => void ran.push('wrapped')
      const tools = [{ ...plain, execute }, make('third')]
      context.options = { ...context.options, tools }
      await callNext()
    })
    const hide = lifecycle({ name: 'hide', beforeTurn: ({ run }) => run.tools.hide('hidden') })
    const tools = [plain, make('hidden')]

    await runIn(mode, new Agent({ client, tools, middleware: [hide, edit] }))

    expect(ran).toEqual(['third', 'wrapped', 'hidden'])
  })

  it('a rewrite that removes a call during its execution throws', async () => {
    const { agent } = setUp(() => {})
    const cut = lifecycle({
      name: 'cut',
      beforeToolExecution: ({ run }) => run.messages.rewrite((all) => all.slice(0, 1)),
    })

    await expect(runIn(mode, agent, { middleware: cut })).rejects.toMatchObject({
      code: 'middleware_contract',
      message: expect.stringContaining('"drop", which is being executed'),
    })
  })

  it('an edit after the last callNext() names the middleware and the input', async () => {
    const { agent } = setUp(
      () => {},
      chatMiddleware('late', async (context, callNext) => {
        await callNext()
        context.options = { temperature: 0 }
      }),
    )

    await expect(runIn(mode, agent)).rejects.toMatchObject({
      code: 'middleware_contract',
      middleware: 'late',
      message: expect.stringContaining('assigned context.options after its last callNext()'),
    })
  })

  it('putting back what a middleware was given is no edit, nor is one before another callNext()', async () => {
    const { agent } = setUp(
      () => {},
      chatMiddleware('again', async (context, callNext) => {
        const { options } = context
        context.options = { ...options, temperature: 0 }
        await callNext()
        context.options = { ...options, temperature: 1 }
        await callNext()
        context.options = options
      }),
    )

    await expect(runIn(mode, agent)).resolves.toMatchObject({ status: 'completed' })
  })

  it('run.tools after the loop throws with the name of the middleware, unless the loop runs again', async () => {
    const add = (times: number): Middleware =>
      agentMiddleware('late', async ({ run }, callNext) => {
        for (let at = 0; at < times; at++) {
          await callNext()
          if (at === 0) run.tools.remove('drop')
        }
      })
    const inner = agentMiddleware('inner', (_, callNext) => callNext())
    const { agent } = setUp(() => {})

    await expect(runIn(mode, agent, { middleware: [add(1), inner] })).rejects.toMatchObject({
      middleware: 'late',
      message: expect.stringContaining('run.tools.remove() after the loop had ended'),
    })
    const again = setUp(() => {})
    await expect(runIn(mode, again.agent, { middleware: add(2) })).resolves.toBeDefined()
  })

  it('run.tools after a loop that has failed throws, too', async () => {
    const sorry = agentMiddleware('sorry', async (context, callNext) => {
      await callNext().catch(() => {
        context.run.tools.remove('drop')
        context.result = 'Sorry.'
      })
    })
    const client = scriptedClient([new Error('down')])

    await expect(runIn(mode, new Agent({ client, middleware: sorry }))).rejects.toMatchObject({
      middleware: 'sorry',
      message: expect.stringContaining('run.tools.remove() after the loop had ended'),
    })
  })

  it('a tool that a chat middleware takes out of the request does not run', async () => {
    const { agent, ran } = setUp(
      () => {},
      chatMiddleware('filter', async (context, callNext) => {
        const tools = context.options.tools?.filter(({ name }) => name !== 'drop')
        context.options = { ...context.options, tools }
        await callNext()
      }),
    )

    await runIn(mode, agent)

    expect(ran).toEqual(['look'])
  })

  it('a tool that is taken out of one request runs where a middleware answers the next', async () => {
    const { agent, ran } = setUp(
      () => {},
      chatMiddleware('filter', async (context, callNext) => {
        if (context.iteration === 1) {
          context.result = { messages: callFunction('drop') }
          return
        }
        const tools = context.options.tools?.filter(({ name }) => name !== 'drop')
        context.options = { ...context.options, tools }
        await callNext()
      }),
    )

    await runIn(mode, agent)

    expect(ran).toEqual(['look', 'drop'])
  })

  it.each<[string, Middleware | readonly Middleware[]]>([
    [
      'a chat middleware',
      chatMiddleware('force', async (context, callNext) => {
        context.options = { ...context.options, toolChoice: 'required' }
        await callNext()
      }),
    ],
    [
      'beforeIteration',
      lifecycle({
        name: 'force',
        beforeIteration(context) {
          context.options = { ...context.options, toolChoice: 'required' }
        },
      }),
    ],
  ])('`required` set by %s returns after one iteration', async (_, force) => {
    const { agent, client, ran } = setUp(() => {})

    await runIn(mode, agent, { middleware: force })

    expect([client.requests.length, ran]).toEqual([1, ['drop', 'look']])
  })

  it('`required` that a chat middleware takes out of a request does not end the run', async () => {
    const { agent, client } = setUp(
      () => {},
      chatMiddleware('relax', async (context, callNext) => {
        context.options = { ...context.options, toolChoice: undefined }
        await callNext()
      }),
    )

    const { text } = await runIn(mode, agent, { options: { toolChoice: 'required' } })

    expect([client.requests.length, text]).toEqual([2, 'Done.'])
  })

  it('`required` holds for the answer of a middleware, too', async () => {
    const { agent, client, ran } = setUp(
      () => {},
      lifecycle({
        name: 'force',
        beforeIteration(context) {
          context.options = { ...context.options, toolChoice: 'required' }
        },
      }),
      chatMiddleware('stored', (context) => {
        context.result = { messages: callFunction('look') }
      }),
    )

    await runIn(mode, agent)

    expect([client.requests.length, ran]).toEqual([0, ['look']])
  })

  it('options that beforeIteration replaces without tools leave the tools alone', async () => {
    const { agent, offered } = setUp(
      () => {},
      lifecycle({
        name: 'cool',
        beforeIteration(context) {
          context.options = { temperature: 0 }
        },
      }),
    )

    await runIn(mode, agent)

    expect(offered()).toEqual(['drop', 'look'])
  })

  it('a call that is taken out of the answer does not run, and is nowhere', async () => {
    const session = createSession()
    const { agent, ran } = setUp(() => {})
    const remove = lifecycle({
      name: 'remove',
      afterModelCall({ run, iteration }) {
        if (iteration > 0) return
        run.messages.rewrite((messages) => [
          ...messages.slice(0, -1),
          message('assistant', 'I will not.'),
        ])
      },
    })

    const response = await runIn(mode, agent, { middleware: remove, session })

    expect([ran, response.text, response.functionCalls]).toEqual([[], 'I will not.', []])
    expect(session.messages.map(messageText)).toEqual(['Hello', 'I will not.'])
  })

  it('a call that is put into the answer runs', async () => {
    const { ran, make } = setUp(() => {})
    const client = scriptedClient(['Nothing to do.', 'Done.'])
    const add = lifecycle({
      name: 'add',
      afterModelCall({ run, iteration }) {
        if (iteration > 0) return
        run.messages.rewrite((messages) => {
          const call = {
            type: 'function-call',
            callId: 'own',
            name: 'look',
            arguments: '{}',
          } as const
          const last = messages.at(-1)!
          return [...messages.slice(0, -1), { ...last, contents: [...last.contents, call] }]
        })
      },
    })

    const response = await runIn(
      mode,
      new Agent({ client, tools: [make('look')], middleware: add }),
    )

    expect([ran, response.text]).toEqual([['look'], 'Nothing to do.Done.'])
  })
})

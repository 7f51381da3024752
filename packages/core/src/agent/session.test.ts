import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { MiddlewareInput, SessionSnapshot } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  BudgetExhausted,
  chatMiddleware,
  createSession,
  GuardrailTripped,
  message,
  MiddlewareTermination,
  tool,
} from '../index.ts'
import { failureOf, modes, outline, play } from '../loop/loop-invariant.test-helper.ts'

describe('a session', () => {
  it('is made empty, or from its snapshot', () => {
    const agent = new Agent({ client: scriptedClient([]) })
    const empty = agent.createSession()
    const full = createSession({
      id: 's1',
      messages: [message('user', 'Hi')],
      state: { a: 1 },
    })

    const copy = createSession(JSON.parse(JSON.stringify(full)) as SessionSnapshot)

    expect(empty).toMatchObject({ messages: [], pending: [], state: {} })
    expect(empty.id).not.toBe(agent.createSession().id)
    expect(copy.toJSON()).toEqual(full.toJSON())
    expect(full.toJSON().version).toBe(1)
  })
})

describe.each(modes)('runs in a session, $name', ({ stream }) => {
  function make(steps: readonly ScriptedStep[], middleware: MiddlewareInput = []) {
    const client = scriptedClient(steps)
    const work = tool({ name: 'work', description: '', execute: () => 'ok' })
    return {
      client,
      agent: new Agent({ client, tools: [work], middleware }),
      session: createSession(),
    }
  }

  const work = (callId: string) => callFunction('work', {}, callId)
  const told = ['user: Hi', 'assistant: Hello.']

  it('read what was said before, and add what they say', async () => {
    const { agent, client, session } = make([[work('c1')], 'Hello.', 'Again.'])

    await play(agent, 'Hi', { session, stream })
    await play(agent, 'And?', { session, stream })

    const whole = [
      'user: Hi',
      'assistant: work(c1)',
      'tool: c1 = ok',
      'assistant: Hello.',
      'user: And?',
    ]
    expect(outline(client.requests[2]!.messages)).toEqual(whole)
    expect(outline(session.messages)).toEqual([...whole, 'assistant: Again.'])
  })

  it('do not remember one another without one', async () => {
    const { agent, client } = make(['A.', 'B.'])

    await play(agent, 'One', { stream })
    await play(agent, 'Two', { stream })

    expect(outline(client.requests[1]!.messages)).toEqual(['user: Two'])
  })

  it("give it a new list: the old one, and the caller's messages, are left as they were", async () => {
    const { agent, session } = make(['Hello.', 'Again.'])
    const input = Object.freeze([Object.freeze(message('user', 'Hi'))])
    await play(agent, input, { session, stream })
    const before = session.messages
    const frozen = Object.freeze([...before])

    await play(agent, 'And?', { session, stream })

    expect(before).toEqual(frozen)
    expect(session.messages).not.toBe(before)
    expect(session.messages[0]).toBe(input[0])
  })

  it('that a guardrail blocked leave no trace in it', async () => {
    const block = {
      guardrail: 'g',
      level: 'agent',
      stage: 'output',
      category: 'x',
      message: '',
    } as const
    const guardrail = agentMiddleware('guardrail', async (_, callNext) => {
      if ((await callNext()).text.includes('bad')) throw new GuardrailTripped(block)
    })
    const { agent, client, session } = make(['Hello.', 'bad words', 'Fine.'], guardrail)
    await play(agent, 'Hi', { session, stream })

    const { response } = await play(agent, 'Say bad words', { session, stream })

    expect(response.status).toBe('blocked')
    expect(outline(session.messages)).toEqual(told)
    await play(agent, 'On', { session, stream })
    expect(JSON.stringify(client.requests[2]!.messages)).not.toContain('bad words')
  })

  it('that fail before a tool ran leave no trace in it', async () => {
    const { agent, session } = make(['Hello.', new Error('down')])
    await play(agent, 'Hi', { session, stream })

    await failureOf(play(agent, 'More', { session, stream }))

    expect(outline(session.messages)).toEqual(told)
  })

  it('that were aborted, or whose budget ran out, leave no trace in it', async () => {
    const controller = new AbortController()
    const spend = chatMiddleware('budget', async ({ messages }, callNext) => {
      if (outline(messages).at(-1) === 'user: Spend') throw new BudgetExhausted('tokens', 1)
      await callNext()
    })
    const leave = () => {
      controller.abort(new Error('the user left'))
      return 'Never.'
    }
    const { agent, session } = make(['Hello.', leave], spend)
    await play(agent, 'Hi', { session, stream })

    await failureOf(play(agent, 'More', { session, signal: controller.signal, stream }))
    await play(agent, 'Spend', { session, stream })

    expect(outline(session.messages)).toEqual(told)
  })

  it("keep what is left after the middlewares' verdict", async () => {
    const redact = agentMiddleware('redact', async (context, callNext) => {
      const { messages } = await callNext()
      context.result = {
        messages: messages.map((entry) => ({
          ...entry,
          contents: [{ type: 'text', text: '[redacted]' }],
        })),
      }
    })
    const { agent, session } = make(['My number is 1234.'], redact)

    const { response } = await play(agent, 'Hi', { session, stream })

    expect(response.text).toBe('[redacted]')
    expect(outline(session.messages)).toEqual(['user: Hi', 'assistant: [redacted]'])
  })

  it('keep the messages that a middleware put in place of the input', async () => {
    const edit = agentMiddleware('edit', async (context, callNext) => {
      context.messages = [message('user', 'Hi, politely')]
      await callNext()
    })
    const { agent, session } = make(['Hello.'], edit)

    await play(agent, 'Hi', { session, stream })

    expect(outline(session.messages)).toEqual(['user: Hi, politely', 'assistant: Hello.'])
  })

  it.each<[string, MiddlewareInput]>([
    [
      'answers by itself',
      agentMiddleware('cache', (context) => void (context.result = 'From the cache.')),
    ],
    [
      'ends the run with an answer',
      agentMiddleware('end', () => {
        throw new MiddlewareTermination('x', { result: 'From the cache.' })
      }),
    ],
  ])('in which an agent middleware %s keep history, input and answer', async (_, middleware) => {
    const { agent, session } = make(['Hello.'])
    await play(agent, 'Hi', { session, stream })

    await play(agent, 'And?', { session, middleware: middleware, stream })

    expect(outline(session.messages)).toEqual([...told, 'user: And?', 'assistant: From the cache.'])
  })

  it('that a middleware runs twice are told once', async () => {
    const again = agentMiddleware('again', async (_, callNext) => {
      await callNext()
      await callNext()
    })
    const { agent, client, session } = make([[work('c1')], 'First.', 'Second.'], again)

    const { response } = await play(agent, 'Hi', { session, stream })

    const round = ['assistant: work(c1)', 'tool: c1 = ok']
    expect(outline(response.messages)).toEqual([...round, 'assistant: Second.'])
    expect(outline(session.messages)).toEqual(['user: Hi', ...round, 'assistant: Second.'])
    expect(outline(client.requests[2]!.messages)).toEqual(['user: Hi', ...round])
    expect(response.usage.totalTokens).toBe(45)
  })

  it('can be given another session by a middleware', async () => {
    const other = createSession()
    const swap = agentMiddleware('swap', async (context, callNext) => {
      context.session = other
      await callNext()
    })
    const { agent, session } = make(['Hello.'], swap)

    await play(agent, 'Hi', { session, stream })

    expect([session.messages.length, outline(other.messages)]).toEqual([0, told])
  })

  describe('run.messages.rewrite', () => {
    const summarise = (when: (all: readonly string[]) => boolean) =>
      chatMiddleware('summarise', async (context, callNext) => {
        const { messages } = context.run
        if (when(outline(messages.all))) {
          messages.rewrite((all) => [message('user', `${all.length} messages`)])
          context.messages = messages.all
        }
        await callNext()
      })

    it('changes what the session keeps and the next call reads; the response tells what happened', async () => {
      const { agent, client, session } = make(
        [work('c1'), 'Hello.', 'Again.'],
        summarise((all) => all.at(-1)!.startsWith('tool')),
      )

      const { response } = await play(agent, 'Hi', { session, stream })
      await play(agent, 'And?', { session, stream })

      expect(outline(client.requests[1]!.messages)).toEqual(['user: 3 messages'])
      expect(outline(response.messages)).toEqual([
        'assistant: work(c1)',
        'tool: c1 = ok',
        'assistant: Hello.',
      ])
      expect(outline(client.requests[2]!.messages)).toEqual([
        'user: 3 messages',
        'assistant: Hello.',
        'user: And?',
      ])
    })

    it('in the midst of a batch leaves its results with their call', async () => {
      const client = scriptedClient([work('c1'), 'Hello.'])
      const rewrites = tool({
        name: 'work',
        description: '',
        execute: (_, { run }) => {
          run.messages.rewrite((all) => [message('system', 'Summary.'), ...all.slice(-1)])
          return 'ok'
        },
      })
      const session = createSession()

      await play(new Agent({ client, tools: [rewrites] }), 'Hi', { session, stream })

      const kept = ['system: Summary.', 'assistant: work(c1)', 'tool: c1 = ok']
      expect(outline(client.requests[1]!.messages)).toEqual(kept)
      expect(outline(session.messages)).toEqual([...kept, 'assistant: Hello.'])
    })
  })
})

describe('a streamed run in a session', () => {
  it('is stored when it was iterated, without asking for the final response', async () => {
    const session = createSession()
    const agent = new Agent({ client: scriptedClient(['Hello.']) })

    for await (const update of agent.run('Hi', { session, stream: true }))
      expect(update).toBeDefined()

    expect(outline(session.messages)).toEqual(['user: Hi', 'assistant: Hello.'])
  })

  it('is not stored when the caller leaves it', async () => {
    const session = createSession()
    const agent = new Agent({ client: scriptedClient(['One two three.']) })

    for await (const update of agent.run('Hi', { session, stream: true })) {
      if (update.contents.length > 0) break
    }

    expect(session.messages).toEqual([])
  })
})

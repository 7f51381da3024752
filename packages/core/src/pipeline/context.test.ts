import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type {
  AgentContext,
  ChatContext,
  FunctionInvocationContext,
  Message,
  RunContext,
} from '../index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  createSession,
  functionMiddleware,
  jsonSchema,
  message,
  messageText,
  tool,
} from '../index.ts'
import { respondIn } from '../run/run.test-helper.ts'

const look = tool({
  name: 'look',
  description: 'Looks.',
  parameters: jsonSchema({ type: 'object' }),
  execute: (args) => JSON.stringify(args),
})

function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen)
    Object.freeze(value)
  }
  return value
}

describe.each(runModes)('what a context holds, %s', (mode) => {
  it('an agent context holds the run’s inputs', async () => {
    let seen: Partial<AgentContext> = {}
    const observe = agentMiddleware('observe', async (context, callNext) => {
      const { agent: owner, messages, session, instructions, options, tools } = context
      seen = { agent: owner, messages, session, instructions, options, tools }
      seen = { ...seen, stream: context.stream, metadata: context.metadata, result: context.result }
      await callNext()
    })
    const session = createSession()
    const own = tool({ name: 'own', description: 'x', parameters: jsonSchema({ type: 'object' }) })
    const agent = new Agent({
      client: scriptedClient(['Done.']),
      middleware: observe,
      instructions: 'Be kind.',
      options: { temperature: 0.5 },
      tools: [own],
    })

    const options = { session, tools: [look], instructions: 'Be brief.', options: { topP: 1 } }
    await runIn(mode, agent, options)

    expect(seen.agent).toBe(agent)
    expect(seen.session).toBe(session)
    expect(seen.messages?.map(messageText)).toEqual(['Hello'])
    expect(seen.instructions).toBe('Be kind.\nBe brief.')
    expect(seen.options).toEqual({ temperature: 0.5, topP: 1, tools: [own, look] })
    expect(seen.tools).toEqual([own, look])
    expect(seen).toMatchObject({ stream: mode === 'streamed', metadata: {}, result: undefined })
  })

  it('a chat context holds one model call', async () => {
    const seen: Partial<ChatContext>[] = []
    const observe = chatMiddleware('observe', async (context, callNext) => {
      const { client: used, messages, instructions, options, iteration, stream, result } = context
      seen.push({ client: used, messages, instructions, options, iteration, stream, result })
      expect(context.metadata).toEqual({})
      context.metadata['at'] = iteration
      await callNext()
      expect(context.metadata).toEqual({ at: iteration })
    })
    const client = scriptedClient([callFunction('look'), 'Done.'])
    const agent = new Agent({
      client,
      tools: [look],
      instructions: 'Be kind.',
      middleware: observe,
    })

    await runIn(mode, agent, { options: { temperature: 1 } })

    const stream = mode === 'streamed'
    expect(seen).toMatchObject([
      { client, iteration: 0, stream, instructions: 'Be kind.', result: undefined },
      { client, iteration: 1, stream, options: { temperature: 1, tools: [look] } },
    ])
    expect(seen.map(({ messages }) => messages!.map(({ role }) => role))).toEqual([
      ['user'],
      ['user', 'assistant', 'tool'],
    ])
  })

  it('a chat context without an agent holds what the caller passed', async () => {
    let seen: Partial<ChatContext> = {}
    const client = scriptedClient(['Done.'], {
      middleware: chatMiddleware('observe', async (context, callNext) => {
        const { client: used, messages, instructions, options } = context
        seen = { client: used, messages, instructions, options }
        await callNext()
      }),
    })

    await respondIn(mode, client, { temperature: 0.2, instructions: 'Be kind.' })

    expect(seen).toMatchObject({ client, instructions: 'Be kind.', options: { temperature: 0.2 } })
    expect(seen.messages?.map(messageText)).toEqual(['Hello'])
    expect(Object.keys(seen.options!)).toEqual(['temperature'])
  })

  it('a function context holds one tool call', async () => {
    const seen: Partial<FunctionInvocationContext>[] = []
    const observe = functionMiddleware('observe', async (context, callNext) => {
      const { function: called, callId, arguments: args, session: of, data } = context
      seen.push({ function: called, callId, arguments: args, session: of, data })
      expect([context.metadata, context.result]).toEqual([{}, undefined])
      expect([...context.tools].map(({ name }) => name)).toEqual(['look'])
      await callNext()
      expect(context.result?.contents).toEqual([{ type: 'text', text: JSON.stringify(args) }])
    })
    const session = createSession()
    const calls = [callFunction('look', { at: 1 }), callFunction('look', { at: 2 })]
    const client = scriptedClient([calls, 'Done.'])
    const agent = new Agent({ client, tools: [look], middleware: observe })

    await runIn(mode, agent, { session, data: 'mine' })

    expect(seen).toEqual([
      { function: look, callId: 'call_1', arguments: { at: 1 }, session, data: 'mine' },
      { function: look, callId: 'call_2', arguments: { at: 2 }, session, data: 'mine' },
    ])
  })

  it('a run without a session has none', async () => {
    const seen: unknown[] = []
    const observe = agentMiddleware('observe', async ({ session, run }, callNext) => {
      seen.push(session)
      await callNext()
      seen.push(run.session)
    })

    await runIn(mode, new Agent({ client: scriptedClient(['Done.']), middleware: observe }))

    expect(seen).toEqual([undefined, undefined])
  })

  it('the messages of a run are its input, however long the session is', async () => {
    const counts: number[] = []
    const session = createSession()
    const observe = agentMiddleware('observe', async ({ messages }, callNext) => {
      counts.push(messages.length, session.messages.length)
      await callNext()
    })
    const agent = new Agent({ client: scriptedClient(() => 'Done.'), middleware: observe })

    await runIn(mode, agent, { session })
    await runIn(mode, agent, { session })

    expect([...counts, session.messages.length]).toEqual([1, 0, 1, 2, 4])
  })

  it('all contexts of a run share one run, and no two runs do', async () => {
    const runs: RunContext[] = []
    const signals: AbortSignal[] = []
    const note = async (
      { run, signal }: { run: RunContext; signal: AbortSignal },
      callNext: () => Promise<unknown>,
    ): Promise<void> => {
      runs.push(run)
      signals.push(signal)
      await callNext()
    }
    const client = scriptedClient(({ index }) => (index === 0 ? callFunction('look') : 'Done.'))
    const middleware = [
      agentMiddleware('a', note),
      chatMiddleware('c', note),
      functionMiddleware('f', note),
    ]
    const agent = new Agent({ client, name: 'scout', tools: [look], middleware })

    const { runId } = await runIn(mode, agent, { data: 'mine' })
    const { length } = runs
    await runIn(mode, agent)

    expect(length).toBe(4)
    expect(new Set(runs.slice(0, length)).size).toBe(1)
    expect(runs[0]).toMatchObject({ id: runId, agentName: 'scout', data: 'mine', depth: 0 })
    expect(runs[length]).not.toBe(runs[0])
    expect(signals.every((signal) => !signal.aborted)).toBe(true)
  })
})

describe.each(runModes)('what middlewares assign, %s', (mode) => {
  it('messages, instructions and options reach the middlewares inside and the provider, and nobody else', async () => {
    const inside: unknown[] = []
    const note = message('user', 'A note.')
    const outside = chatMiddleware('outside', async (context, callNext) => {
      const before = [context.messages, context.instructions, context.options]
      await callNext()
      expect([context.messages, context.instructions, context.options]).toEqual(before)
    })
    const editing = chatMiddleware('editing', async (context, callNext) => {
      context.messages = [...context.messages, note]
      context.instructions = 'Be brief.'
      context.options = { ...context.options, temperature: 0, model: 'small' }
      await callNext()
    })
    const observe = chatMiddleware('observe', async (context, callNext) => {
      inside.push(context.messages.at(-1), context.instructions, context.options.model)
      await callNext()
    })
    const client = scriptedClient(['Done.'])

    await runIn(mode, new Agent({ client, middleware: [outside, editing, observe] }))

    expect(inside).toEqual([note, 'Be brief.', 'small'])
    expect(client.requests[0]).toMatchObject({
      instructions: 'Be brief.',
      options: { temperature: 0, model: 'small' },
    })
    expect(client.requests[0]!.messages.map(messageText)).toEqual(['Hello', 'A note.'])
  })

  it('what a chat middleware assigns is gone in the next model call', async () => {
    const editing = chatMiddleware('editing', async (context, callNext) => {
      if (context.iteration === 0) {
        context.messages = [...context.messages, message('user', 'Once.')]
        context.options = { ...context.options, temperature: 0 }
      }
      await callNext()
    })
    const client = scriptedClient([callFunction('look'), 'Done.'])

    await runIn(mode, new Agent({ client, tools: [look], middleware: editing }))

    const [first, second] = client.requests
    expect([first!.options.temperature, second!.options.temperature]).toEqual([0, undefined])
    expect(second!.messages.some((entry) => messageText(entry) === 'Once.')).toBe(false)
  })

  it('an agent middleware’s edits hold for the whole run and not for the next one', async () => {
    let runs = 0
    const session = createSession()
    const editing = agentMiddleware('editing', async (context, callNext) => {
      if (runs++ === 0) {
        context.messages = [message('user', 'Something else.')]
        context.instructions = 'Be brief.'
        context.options = { ...context.options, temperature: 0 }
        context.tools = [look]
        context.session = session
      }
      await callNext()
    })
    const client = scriptedClient(({ index }) => (index === 0 ? callFunction('look') : 'Done.'))
    const agent = new Agent({ client, middleware: editing })

    await runIn(mode, agent)
    await runIn(mode, agent)

    const [first, second, third] = client.requests
    for (const { messages, instructions, options } of [first!, second!]) {
      expect(messageText(messages[0]!)).toBe('Something else.')
      expect([instructions, options.temperature]).toEqual(['Be brief.', 0])
      expect(options.tools?.map(({ name }) => name)).toEqual(['look'])
    }
    expect(session.messages).toHaveLength(4)
    expect(third!.messages.map(messageText)).toEqual(['Hello'])
    expect(third!.options).toEqual({})
  })

  it('a retry outside never sees an edit twice, and a retry starts from what its own middleware had set', async () => {
    const counts: number[][] = []
    const retry = chatMiddleware('retry', async (context, callNext) => {
      context.messages = [...context.messages, message('user', 'own')]
      for (let attempt = 0; ; attempt++) {
        try {
          return await callNext()
        } catch (error) {
          counts.push([context.messages.length])
          if (attempt === 2) throw error
        }
      }
    })
    const editing = chatMiddleware('editing', async (context, callNext) => {
      context.messages = [...context.messages, message('user', 'inner')]
      await callNext()
    })
    const fails = new Error('refused')
    const client = scriptedClient([fails, { updates: ['some'], error: fails }, 'Done.'])

    await runIn(mode, new Agent({ client, middleware: [retry, editing] }))

    expect(counts).toEqual([[2], [2]])
    expect(client.requests.map(({ messages }) => messages.map(messageText))).toEqual([
      ['Hello', 'own', 'inner'],
      ['Hello', 'own', 'inner'],
      ['Hello', 'own', 'inner'],
    ])
  })

  it('the caller’s messages and options stay as they were', async () => {
    const input: readonly Message[] = frozen([message('user', 'Hello')])
    const options = frozen({ temperature: 1, metadata: { a: 1 } })
    const editing = [
      agentMiddleware('a', async (context, callNext) => {
        context.messages = context.messages.map((entry) => ({ ...entry, contents: [] }))
        context.options = { ...context.options, temperature: 0 }
        await callNext()
      }),
      chatMiddleware('c', async (context, callNext) => {
        context.options = { ...context.options, temperature: 0.5 }
        await callNext()
      }),
    ]
    const client = scriptedClient(['Done.'])
    const agent = new Agent({ client, middleware: editing })

    await runIn(mode, agent, { input, options: options as never })

    expect(client.requests[0]!.options.temperature).toBe(0.5)
    expect([input[0]!.contents.length, options.temperature]).toEqual([1, 1])
  })

  it('edited arguments of a tool call reach the middlewares inside and the tool', async () => {
    const seen: unknown[] = []
    const editing = functionMiddleware('editing', async (context, callNext) => {
      context.arguments = { ...context.arguments, safe: true }
      await callNext()
    })
    const observe = functionMiddleware('observe', async (context, callNext) => {
      seen.push(context.arguments)
      await callNext()
    })
    const client = scriptedClient([callFunction('look', { at: 1 }), 'Done.'])

    const { messages } = await runIn(
      mode,
      new Agent({ client, tools: [look], middleware: [editing, observe] }),
    )

    expect(seen).toEqual([{ at: 1, safe: true }])
    expect(messages[1]!.contents).toMatchObject([
      { contents: [{ type: 'text', text: '{"at":1,"safe":true}' }] },
    ])
  })

  it('the data of a run can be another one for a tool call, and for that one only', async () => {
    const seen: unknown[] = []
    const asking = tool({
      name: 'ask',
      description: 'Asks.',
      parameters: jsonSchema({ type: 'object' }),
      execute: (_, { data }) => void seen.push(data),
    })
    const editing = functionMiddleware('editing', async (context, callNext) => {
      if (context.callId === 'call_1') context.data = `${String(context.data)}, edited`
      await callNext()
    })
    const client = scriptedClient([[callFunction('ask'), callFunction('ask')], 'Done.'])

    await runIn(mode, new Agent({ client, tools: [asking], middleware: editing }), { data: 'mine' })

    expect(seen).toEqual(['mine, edited', 'mine'])
  })

  it('a response format that an inner agent middleware asks for is what the answer is parsed by', async () => {
    const pass = agentMiddleware('pass', (_, callNext) => callNext())
    const asking = agentMiddleware('asking', async (context, callNext) => {
      const schema = { type: 'object', properties: { ok: { type: 'boolean' } } } as const
      context.options = { ...context.options, responseFormat: { schema: jsonSchema(schema) } }
      await callNext()
    })
    const client = scriptedClient(['{"ok":true}'])

    const { value } = await runIn(mode, new Agent({ client, middleware: [pass, asking] }))

    expect(value).toEqual({ ok: true })
  })

  it('a signal that a middleware puts in place reaches the provider, and ends the call alone', async () => {
    const giveUp = new Error('too slow')
    let attempts = 0
    const timeout = chatMiddleware('timeout', async (context, callNext) => {
      const own = new AbortController()
      context.signal = AbortSignal.any([context.signal, own.signal])
      if (attempts++ === 0) queueMicrotask(() => queueMicrotask(() => own.abort(giveUp)))
      await callNext()
    })
    const errors: unknown[] = []
    const retry = chatMiddleware('retry', (_, callNext) =>
      callNext().catch((error: unknown) => {
        errors.push(error)
        return callNext()
      }),
    )
    const client = scriptedClient([{ updates: ['some '], hang: true }, 'Done.'])

    const { text } = await runIn(mode, new Agent({ client, middleware: [retry, timeout] }))

    expect([text, errors]).toEqual(['Done.', [giveUp]])
    expect(client.requests.map(({ signal }) => signal.aborted)).toEqual([true, false])
  })

  it('what is there already is no edit, not even once it would be too late for one', async () => {
    let kept: Partial<Pick<ChatContext, 'options'>> = {}
    const editing = chatMiddleware('editing', async (context, callNext) => {
      kept = context
      context.options = { ...context.options, seed: 1 }
      await callNext()
      const { options } = context
      context.options = options
    })
    const client = scriptedClient(['Done.'])

    const { text } = await runIn(mode, new Agent({ client, middleware: editing }))

    expect(text).toBe('Done.')
    expect(Object.assign(kept, { options: kept.options })).toBe(kept)
  })

  it('a result is never edited in place, nor are its messages and calls', async () => {
    const frozenParts: boolean[] = []
    const editing = chatMiddleware('editing', async (_, callNext) => {
      const result = await callNext()
      const { messages, functionCalls } = result
      frozenParts.push(...[result, messages, functionCalls].map(Object.isFrozen))
    })
    const client = scriptedClient([callFunction('look')], { middleware: editing })

    await respondIn(mode, client)

    expect(frozenParts).toEqual([true, true, true])
  })

  it('a middleware that has failed cannot call the model any more', async () => {
    let kept: (() => Promise<unknown>) | undefined
    const failing = chatMiddleware('failing', async (_, callNext) => {
      kept = callNext
      throw new Error('broken')
    })
    const client = scriptedClient(['Done.'])
    await expect(runIn(mode, new Agent({ client, middleware: failing }))).rejects.toThrow('broken')

    await expect(kept?.()).rejects.toThrow('called callNext() after it had returned')

    expect(client.requests).toEqual([])
  })
})

import { callFunction, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentHandler, AgentPipeline, AgentPipelineInput } from './agent-pipeline.ts'
import type { AgentResponse, ChatResponseUpdate } from '../index.ts'
import type { ChatHandler, ChatPipelineInput } from '../pipeline/chat-pipeline.ts'
import {
  GuardrailTripped,
  MiddlewareTermination,
  agentMiddleware,
  chatMiddleware,
  createSession,
  defineState,
  foldUpdates,
  functionMiddleware,
  jsonSchema,
  messageText,
  tool,
} from '../index.ts'
import { agentPipeline, chatPipeline, functionPipeline } from '../authoring.ts'

const double = tool({
  name: 'double',
  description: 'Doubles a number.',
  parameters: jsonSchema({
    type: 'object',
    properties: { n: { type: 'number' } },
    required: ['n'],
  }),
  execute: ({ n }) => Number(n) * 2,
})

describe.each(runModes)('a chat pipeline, %s', (mode) => {
  const execute = (
    context: ChatPipelineInput,
    handler?: ChatHandler,
    middleware: Parameters<typeof chatPipeline>[0] = [],
  ) => {
    const pipeline = chatPipeline(middleware)
    return mode === 'streamed'
      ? pipeline.stream(context, handler).finalResponse()
      : pipeline.execute(context, handler)
  }

  it('calls the client of the context, which a middleware may replace', async () => {
    const other = scriptedClient(['other'])
    const swap = chatMiddleware('swap', async (context, callNext) => {
      context.client = other
      await callNext()
    })

    const response = await execute({ client: scriptedClient([]), messages: 'Hi' }, undefined, swap)

    expect(response.text).toBe('other')
  })

  const answers: Record<string, ChatHandler> = {
    'a text': () => 'hello',
    'a response': () => ({ messages: 'hello', finishReason: 'stop' }),
    updates: async function* () {
      yield* [{ contents: [{ type: 'text', text: 'hel' }], messageId: 'm' }]
      yield { contents: [{ type: 'text', text: 'lo' }], messageId: 'm' }
    },
    'a promise of updates': async () => scriptedClient(['hello']).stream(emptyRequest),
    'context.result': (context) => {
      context.result = 'hello'
      return undefined
    },
  }
  it.each(Object.entries(answers))('a handler may answer with %s', async (_name, handler) => {
    const shout = chatMiddleware('shout', async (context, callNext) => {
      const { text } = await callNext()
      context.result = text.toUpperCase()
    })

    const response = await execute({ client: scriptedClient([]), messages: 'Hi' }, handler, shout)

    expect(response.text).toBe('HELLO')
  })

  it('a handler reads what the middlewares have set', async () => {
    const edit = chatMiddleware('edit', async (context, callNext) => {
      context.messages = ['a', 'b'].map((words) => ({
        id: words,
        role: 'user',
        contents: [{ type: 'text', text: words }],
      }))
      context.options = { ...context.options, toolChoice: () => 'none' }
      await callNext()
    })
    let seen: unknown

    await execute(
      { client: scriptedClient([]), messages: 'Hi', options: { temperature: 1 } },
      (context) => {
        seen = [context.messages.map(messageText), context.options]
        return 'ok'
      },
      edit,
    )

    expect(seen).toEqual([['a', 'b'], { temperature: 1, toolChoice: 'none' }])
  })

  it('rejects with a termination that has no result', async () => {
    const stop = chatMiddleware('stop', () => {
      throw new MiddlewareTermination('enough')
    })

    const running = execute({ client: scriptedClient([]), messages: 'Hi' }, () => 'ok', stop)

    await expect(running).rejects.toMatchObject({ message: 'enough' })
  })

  it('a signal ends a handler that does not listen to it', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const running = execute(
      { client: scriptedClient([]), messages: 'Hi', signal },
      () => new Promise<string>(() => {}),
    )
    const settled = running.catch((error: unknown) => error)
    await new Promise((resolve) => setTimeout(resolve, 0))

    controller.abort('late')

    expect(await settled).toBe('late')
  })
})

const emptyRequest = {
  messages: [],
  instructions: undefined,
  options: {},
  signal: new AbortController().signal,
}

describe('a function pipeline', () => {
  it('validates arguments before the middlewares and those that they assign', async () => {
    const seen: unknown[] = []
    const add = functionMiddleware('add', async (context, callNext) => {
      seen.push(context.arguments)
      context.arguments = { n: Number(context.arguments['n']) + 1 }
      await callNext()
    })
    const wrong = functionMiddleware('wrong', async (context, callNext) => {
      context.arguments = { n: 'x' }
      await callNext()
    })
    const execute = (middleware: typeof add, n: unknown) =>
      functionPipeline(middleware).execute({ function: double, arguments: { n } })

    expect((await execute(add, 1)).contents).toEqual([{ type: 'text', text: '4' }])
    expect((await execute(add, 'one')).error?.code).toBe('invalid_arguments')
    expect((await execute(wrong, 1)).error?.code).toBe('invalid_arguments')
    expect(seen).toEqual([{ n: 1 }])
  })

  it('takes the call of a response as it is', async () => {
    const client = scriptedClient([callFunction('double', { n: 21 })])
    const { functionCalls } = await client.getResponse('Hi')
    const ids: string[] = []
    const note = functionMiddleware('note', async (context, callNext) => {
      ids.push(context.callId)
      await callNext()
    })

    const result = await functionPipeline(note).execute({ function: double, ...functionCalls[0] })

    expect(result.contents).toEqual([{ type: 'text', text: '42' }])
    expect(ids).toEqual([functionCalls[0]!.callId])
  })

  it('makes a result of what a tool throws, and rejects with what a middleware throws', async () => {
    const broken = { ...double, execute: () => Promise.reject(new Error('the disk is full')) }
    const input = { function: broken, arguments: { n: 1 } }
    const failing = functionMiddleware('failing', () => {
      throw new Error('a broken guardrail')
    })

    const hidden = await functionPipeline([]).execute(input)
    const shown = await functionPipeline([]).execute({ ...input, includeDetailedErrors: true })

    expect(hidden.error?.code).toBe('tool_failed')
    expect(JSON.stringify(hidden.contents)).not.toContain('disk')
    expect(JSON.stringify(shown.contents)).toContain('the disk is full')
    await expect(functionPipeline(failing).execute(input)).rejects.toThrow('a broken guardrail')
  })

  it('a handler replaces what the tool would do', async () => {
    const declared = { ...double, execute: undefined }
    const input = { function: declared, arguments: { n: 3 } }

    const returned = await functionPipeline([]).execute(input, ({ arguments: { n } }) => n)
    const assigned = await functionPipeline([]).execute(input, (context) => {
      context.result = 'assigned'
    })

    expect(returned.contents).toEqual([{ type: 'text', text: '3' }])
    expect(assigned.contents).toEqual([{ type: 'text', text: 'assigned' }])
    await expect(functionPipeline([]).execute(input)).rejects.toThrow('it needs a handler')
  })

  it('executes no call that waits for a person', async () => {
    let runs = 0
    const careful = tool({
      name: 'careful',
      description: 'Asks first.',
      approval: ({ arguments: args }) => args['force'] !== true,
      execute: () => ++runs,
    })
    const execute = (approved?: boolean) =>
      functionPipeline([]).execute({ function: careful, approved })

    await expect(execute()).rejects.toMatchObject({ code: 'approval_invalid' })
    await expect(execute(false)).rejects.toThrow('the tool "careful" needs approval')
    expect(runs).toBe(0)
    await execute(true)
    expect(runs).toBe(1)
  })

  it('rejects with the termination of a middleware', async () => {
    const stop = functionMiddleware('stop', () => {
      throw new MiddlewareTermination('enough', { result: 'partly' })
    })

    const running = functionPipeline(stop).execute({ function: double, arguments: { n: 1 } })

    await expect(running).rejects.toMatchObject({ message: 'enough', result: 'partly' })
  })
})

describe.each(runModes)('an agent pipeline, %s', (mode) => {
  async function execute(
    pipeline: AgentPipeline,
    context: AgentPipelineInput,
    handler: AgentHandler,
  ): Promise<AgentResponse> {
    if (mode === 'plain') return pipeline.execute(context, handler)
    const stream = pipeline.stream(context, handler)
    const updates: ChatResponseUpdate[] = []
    for await (const update of stream) updates.push(update)
    const response = await stream.finalResponse()
    // What the caller has read is the response.
    const { messages } = foldUpdates(updates.slice(updates.findLastIndex((one) => one.restart) + 1))
    expect(messages.map(({ role, contents }) => [role, contents])).toEqual(
      response.messages.map(({ role, contents }) => [role, contents]),
    )
    return response
  }

  const chat = chatPipeline([])
  const functions = functionPipeline([])
  const loop: AgentHandler = async ({ run, tools, options }, add) => {
    for (;;) {
      const messages = run.messages.all
      const response = await chat.execute({ run, client: currentClient, messages, options })
      add(response.messages)
      if (response.functionCalls.length === 0) return
      for (const call of response.functionCalls) {
        const called = tools.find(({ name }) => name === call.name)
        if (called?.type !== 'function') throw new Error('no such tool')
        const { contents } = await functions.execute({ run, function: called, ...call })
        const { callId } = call
        add({
          id: `of ${callId}`,
          role: 'tool',
          contents: [{ type: 'function-result', callId, contents }],
        })
      }
    }
  }
  let currentClient = scriptedClient([])

  it('runs a loop of one’s own, with a session, state and tools', async () => {
    const count = defineState({ name: 'count', initial: () => 0 })
    const client = (currentClient = scriptedClient([callFunction('double', { n: 2 }), 'Four.']))
    const counted = agentMiddleware('counted', async (context, callNext) => {
      context.run.state.update(count, (before) => before + 1)
      const { text } = await callNext()
      expect(text).toBe('Four.')
      expect(context.run.state.get(count)).toBe(1)
    })
    const session = createSession()
    const input = { client, messages: 'Twice two?', tools: [double], session }

    const response = await execute(agentPipeline(counted), input, loop)

    expect(response).toMatchObject({ status: 'completed', text: 'Four.' })
    expect(response.usage.totalTokens).toBe(30)
    expect(session.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ])
  })

  it('reads a value from the answer where an inner middleware asked for one', async () => {
    const outer = agentMiddleware('outer', (_, callNext) => callNext())
    const ask = agentMiddleware('ask', async (context, callNext) => {
      context.options = {
        ...context.options,
        responseFormat: { schema: jsonSchema({ type: 'object' }) },
      }
      await callNext()
    })
    const input = { client: scriptedClient([]), messages: 'Where?' }

    const response = await execute(agentPipeline([outer, ask]), input, () => '{"city":"Rome"}')

    expect(response.value).toEqual({ city: 'Rome' })
  })

  it('streams what is added and what is returned, once', async () => {
    const client = scriptedClient(['One.'])
    const response = await execute(
      agentPipeline([]),
      { client, messages: 'Hi' },
      async ({ run, messages }, add) => {
        const answer = await chat.execute({ run, client, messages })
        add(answer.messages)
        add(answer.messages)
        add('Two.')
        return 'Three.'
      },
    )

    expect(response.text).toBe('One.Two.Three.')
  })

  it('answers with what its loop puts into context.result', async () => {
    const client = scriptedClient([])

    const response = await execute(agentPipeline([]), { client, messages: 'Hi' }, (context) => {
      context.result = 'Put there.'
    })

    expect(response.text).toBe('Put there.')
  })

  it('a loop that passes its options on offers no empty list of tools', async () => {
    const client = (currentClient = scriptedClient(['Hello.']))

    await execute(agentPipeline([]), { client, messages: 'Hi' }, loop)

    expect(client.requests[0]!.options).toEqual({})
  })

  it('takes back a streamed model call that the loop discards', async () => {
    const client = scriptedClient(['A draft.'])
    const response = await execute(
      agentPipeline([]),
      { client, messages: 'Hi' },
      async ({ run, messages }) => {
        await chat.execute({ run, client, messages })
        return 'Final.'
      },
    )

    expect(response.text).toBe('Final.')
    expect(response.messages).toHaveLength(1)
  })

  it('ends as a middleware says', async () => {
    const client = scriptedClient([])
    const endedBy = (error: unknown) =>
      execute(agentPipeline([]), { client, messages: 'Hi' }, () => {
        throw error
      })
    const block = {
      guardrail: 'g',
      level: 'agent',
      stage: 'output',
      category: 'c',
      message: '',
    } as const

    const stopped = await execute(agentPipeline([]), { client, messages: 'Hi' }, ({ run }) => {
      run.stop('enough', { response: 'Stopped.' })
    })

    expect(stopped).toMatchObject({ status: 'terminated', reason: 'enough', text: 'Stopped.' })
    expect(await endedBy(new MiddlewareTermination('over'))).toMatchObject({ status: 'terminated' })
    expect(await endedBy(new GuardrailTripped(block))).toMatchObject({ status: 'blocked' })
    await expect(endedBy(new Error('broken'))).rejects.toThrow('broken')
  })

  it('gates of its middlewares hold for its tool calls', async () => {
    const client = (currentClient = scriptedClient([callFunction('double', { n: 2 }), 'Four.']))
    const ask = agentMiddleware('ask', async ({ run }, callNext) => {
      run.gateCalls({ approval: () => true })
      await callNext()
    })
    const input = { client, messages: 'Twice two?', tools: [double] }

    const running = execute(agentPipeline(ask), input, loop)

    await expect(running).rejects.toMatchObject({ code: 'approval_invalid' })
  })
})

describe('pipelines', () => {
  it('refuse middlewares of another level', () => {
    const chat = chatMiddleware('chat', (_context, callNext) => callNext())

    expect(() => functionPipeline(chat as never)).toThrow(
      'functionPipeline: middleware "chat" is of level chat, which does not run here (only function)',
    )
    expect(() => agentPipeline([chat as never])).toThrow('only agent')
  })

  it('refuse a run that is none', async () => {
    const execute = chatPipeline([]).execute({
      client: scriptedClient([]),
      messages: 'Hi',
      run: {} as never,
    })

    await expect(execute).rejects.toThrow('expected the `run` of a context')
  })
})

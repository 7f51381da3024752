import {
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  GuardrailTripped,
} from '@lamella/core'
import { describe, expect, it } from 'vitest'
import {
  callFunction,
  runAgentMiddleware,
  runChatMiddleware,
  runFunctionMiddleware,
} from '../index.ts'

const shout = chatMiddleware('shout', async (context, callNext) => {
  context.instructions = 'Be loud.'
  context.transformUpdates({
    transform(update, controller) {
      controller.enqueue({
        ...update,
        contents: update.contents.map((content) =>
          content.type === 'text' ? { ...content, text: content.text.toUpperCase() } : content,
        ),
      })
    },
  })
  await callNext()
  context.run.emit({ type: 'shouted', data: context.result?.text.length })
})

describe('a chat middleware, run alone', () => {
  it.for([false, true])(
    'shows what left it and what reached its inside (stream: %s)',
    async (stream) => {
      const { result, error, innerCalls, events, response } = await runChatMiddleware(shout, {
        replies: ['Good day.'],
        input: 'Hi',
        stream,
      })

      expect(result?.text).toBe('GOOD DAY.')
      expect(error).toBeUndefined()
      expect(innerCalls).toMatchObject([{ instructions: 'Be loud.', messages: [{ role: 'user' }] }])
      expect(events).toMatchObject([{ type: 'shouted', data: 9 }])
      expect(response).toMatchObject({ status: 'completed', text: 'GOOD DAY.' })
    },
  )

  it('shows what the caller of a stream saw', async () => {
    const { updates } = await runChatMiddleware(shout, {
      replies: ['Good day.'],
      stream: true,
      chunk: 'word',
    })

    const texts = updates.flatMap(({ contents }) =>
      contents.map((content) => 'text' in content && content.text),
    )
    expect(texts).toEqual(['GOOD ', 'DAY.'])
    expect(updates.map(({ event }) => event?.type)).toContain('shouted')
  })

  it('shows what it threw, and what became of the run', async () => {
    const block = {
      guardrail: 'g',
      level: 'chat',
      stage: 'input',
      category: 'c',
      message: 'No.',
    } as const
    const guardrail = chatMiddleware('guardrail', () => {
      throw new GuardrailTripped(block)
    })

    const { result, error, innerCalls, response } = await runChatMiddleware(guardrail)

    expect(error).toBeInstanceOf(GuardrailTripped)
    expect(result).toBeUndefined()
    expect(innerCalls).toEqual([])
    expect(response).toMatchObject({ status: 'blocked', text: 'No.', block })
  })

  it('shows why the run failed, also beside the middleware', async () => {
    const pass = chatMiddleware('pass', (_, callNext) => callNext())
    const signal = AbortSignal.abort(new Error('aborted'))

    const failed = await runChatMiddleware(pass, { replies: [new Error('down')] })
    const aborted = await runChatMiddleware(pass, { signal, stream: true })

    expect(failed).toMatchObject({ error: { message: 'down' }, response: undefined })
    expect(aborted).toMatchObject({ error: { message: 'aborted' }, innerCalls: [] })
  })

  it('leaves calls of the model unexecuted', async () => {
    const { result, innerCalls } = await runChatMiddleware(shout, { replies: [callFunction('f')] })

    expect(result?.functionCalls).toMatchObject([{ name: 'f' }])
    expect(innerCalls).toHaveLength(1)
  })
})

it.for([false, true])(
  'an agent middleware, run alone, shows each run inside it (stream: %s)',
  async (stream) => {
    const twice = agentMiddleware('twice', async (context, callNext) => {
      context.messages = [...context.messages, ...context.messages]
      await callNext()
      await callNext()
    })

    const { result, response, innerCalls } = await runAgentMiddleware(twice, {
      replies: ['one', 'two'],
      stream,
    })

    expect(result).toMatchObject({ status: 'completed', finishReason: 'stop', text: 'two' })
    expect(response).toMatchObject({ status: 'completed', text: 'two' })
    expect(innerCalls.map(({ messages }) => messages.length)).toEqual([2, 2])
  },
)

describe('a function middleware, run alone', () => {
  const double = functionMiddleware('double', async (context, callNext) => {
    context.arguments = { n: Number(context.arguments['n']) * 2 }
    await callNext()
  })

  it.for([false, true])('shows the result and what the tool got (stream: %s)', async (stream) => {
    const { result, innerCalls, response } = await runFunctionMiddleware(double, {
      arguments: { n: 21 },
      execute: ({ n }) => `got ${String(n)}`,
      stream,
    })

    expect(result?.contents).toEqual([{ type: 'text', text: 'got 42' }])
    expect(innerCalls).toEqual([{ callId: 'call_1', arguments: { n: 42 } }])
    expect(response?.text).toBe('Done.')
  })

  it('shows what it threw', async () => {
    const broken = functionMiddleware('broken', () => {
      throw new Error('broken')
    })

    expect(await runFunctionMiddleware(broken)).toMatchObject({
      error: { message: 'broken' },
      innerCalls: [],
      response: undefined,
    })
  })
})

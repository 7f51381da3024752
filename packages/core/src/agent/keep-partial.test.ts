import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentOptions, RunOptions, Session } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  BudgetExhausted,
  chatMiddleware,
  createSession,
  GuardrailTripped,
  message,
  messageText,
  textOf,
  tool,
} from '../index.ts'
import { guardrail } from '@lamella/guardrail'

const look = tool({ name: 'look', description: '', execute: () => 'seen' })

/** A tool whose call aborts the run, and never ends. */
function abortingTool() {
  const controller = new AbortController()
  const aborting = tool({
    ...look,
    execute: () => {
      controller.abort()
      return new Promise(() => {})
    },
  })
  return { controller, aborting }
}

describe.each(runModes)('what a session keeps of a run that did not end, %s', (mode) => {
  const keptOf = async (
    agent: Partial<AgentOptions> & Pick<AgentOptions, 'client'>,
    options: RunOptions = {},
  ): Promise<Session> => {
    const session = createSession()
    await runIn(mode, new Agent({ tools: [look], ...agent }), { session, ...options }).catch(
      () => {},
    )
    return session
  }
  const outlineOf = ({ messages }: Session): string[] =>
    messages.map(({ role, contents, metadata }) =>
      [role, contents.map(({ type }) => type), textOf(contents), metadata?.['partial']]
        .flat()
        .join(' ')
        .trim(),
    )

  it('is each finished step, marked', async () => {
    const client = scriptedClient([callFunction('look'), new Error('down')])

    expect(outlineOf(await keptOf({ client }, { keep: 'all' }))).toEqual([
      'user text Hello',
      'assistant function-call  true',
      'tool function-result  true',
    ])
  })

  it('is also a call that did not end, with a result that says so', async () => {
    const client = scriptedClient([[callFunction('look'), 'Let me see.']])
    const { controller, aborting } = abortingTool()
    const session = await keptOf(
      { client, tools: [aborting] },
      { keep: 'all', signal: controller.signal },
    )

    expect(outlineOf(session)).toEqual([
      'user text Hello',
      'assistant function-call text Let me see. true',
      'tool function-result  true',
    ])
  })

  it('is what it was, where the run fails before its loop', async () => {
    const middleware = agentMiddleware('broken', () => {
      throw new Error('broken')
    })
    const session = createSession({ messages: [message('user', 'Before')] })

    const options = { session, keep: 'all' as const }
    await keptOf({ client: scriptedClient([]), middleware }, options)

    expect(session.messages.map(messageText)).toEqual(['Before'])
  })

  it('is no concern of a run without one', async () => {
    const agent = new Agent({ client: scriptedClient([new Error('down')]) })

    await expect(runIn(mode, agent, { keep: 'all' })).rejects.toThrow('down')
  })

  it('continues to be a conversation', async () => {
    const client = scriptedClient([callFunction('look'), new Error('down'), 'I saw it.'])
    const agent = new Agent({ client, tools: [look] })
    const session = createSession()
    await runIn(mode, agent, { session, keep: 'all' }).catch(() => {})

    const { text } = await runIn(mode, agent, { session, input: 'Continue' })

    expect(text).toBe('I saw it.')
    expect(client.requests[2]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ])
  })

  it('is what there was when the budget ended', async () => {
    const client = scriptedClient([callFunction('look')])
    const middleware = chatMiddleware('budget', async ({ iteration }, callNext) => {
      if (iteration === 1) throw new BudgetExhausted('modelCalls', 1)
      await callNext()
    })

    const session = await keptOf({ client, middleware }, { keep: 'all' })

    expect(outlineOf(session)).toHaveLength(3)
  })

  it('is nothing that was said in a run that a guardrail has blocked', async () => {
    const block = {
      guardrail: 'g',
      level: 'chat',
      stage: 'output',
      category: 'c',
      message: 'No.',
    } as const
    const middleware = chatMiddleware('guardrail', async ({ iteration }, callNext) => {
      if (iteration === 1) throw new GuardrailTripped(block)
      await callNext()
    })
    for (const onBlock of ['return', 'throw'] as const) {
      const client = scriptedClient([callFunction('look')])
      const session = await keptOf({ client, middleware, onBlock }, { keep: 'all' })
      expect(outlineOf(session)).toEqual([
        'user text Hello',
        'assistant function-call',
        'tool function-result',
      ])
    }
  })

  it('is what there was once a guardrail has said its word', async () => {
    const client = scriptedClient([callFunction('look'), new Error('down')])
    const middleware = guardrail({
      name: 'quick',
      applyTo: ['input'],
      execution: 'parallel',
      check: () => ({ action: 'allow' }),
    })

    const session = await keptOf({ client, middleware }, { keep: 'all' })

    expect(outlineOf(session)).toContain('user text Hello')
  })

  it('is nothing while a guardrail has not said its word', async () => {
    const controller = new AbortController()
    const client = scriptedClient([
      () => {
        controller.abort()
        return 'An answer.'
      },
    ])
    const middleware = guardrail({
      name: 'slow',
      applyTo: ['input'],
      execution: 'parallel',
      check: () => new Promise(() => {}),
    })

    const session = await keptOf({ client, middleware }, { keep: 'all', signal: controller.signal })

    expect(session.messages).toEqual([])
  })
})

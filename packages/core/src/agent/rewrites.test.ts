import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentContext, RunContext } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  createSession,
  message,
  messageText,
  MiddlewareTermination,
  tool,
} from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'

/** An agent of which a hook edits each run. */
function editing(edit: (context: AgentContext) => void): Agent {
  const middleware = lifecycle({ name: 'edit', beforeTurn: edit })
  return new Agent({ client: scriptedClient(['Done.']), middleware })
}

describe.each(runModes)('rewrites of a conversation, %s', (mode) => {
  it('a rewrite is shown at once, and is never of an empty conversation', async () => {
    const rewritten: string[][] = []
    let seen: string[] = []
    const agent = editing(({ run }) => {
      run.messages.rewrite((messages) => {
        rewritten.push(messages.map(messageText))
        return [message('user', 'Hi'), ...messages.slice(1)]
      })
      seen = run.messages.all.map(messageText)
    })

    await runIn(mode, agent)

    expect(seen).toEqual(['Hi'])
    expect(new Set(rewritten.map((messages) => messages.join()))).toEqual(new Set(['Hello']))
  })

  it.each<[string, (run: RunContext) => void]>([
    ['run.messages.rewrite()', (run) => run.messages.rewrite((messages) => messages)],
    ['run.tools.hide()', (run) => run.tools.hide('look')],
    ['run.allowIterations()', (run) => run.allowIterations(1)],
    ['run.stop()', (run) => run.stop('late')],
  ])('%s after the run has ended throws', async (name, edit) => {
    let ended: RunContext | undefined
    const agent = editing(({ run }) => void (ended = run))

    await runIn(mode, agent)

    expect(() => edit(ended!)).toThrow(`${name} was called after the run had ended`)
  })

  it('a loop that runs again begins anew: its limits, its iterations and its hooks', async () => {
    const again = agentMiddleware('again', async (_, callNext) => {
      await callNext()
      await callNext()
    })
    let iterations = 0
    const count = lifecycle({ name: 'count', afterIteration: () => void iterations++ })
    const look = tool({ name: 'look', description: '', execute: () => 'seen' })
    const script = [callFunction('look'), 'Done.']
    const client = scriptedClient([...script, ...script])
    const functionInvocation = { maxIterations: 2 }
    const middleware = [again, count]

    const { status } = await runIn(
      mode,
      new Agent({ client, tools: [look], middleware, functionInvocation }),
    )

    expect([status, iterations]).toEqual(['completed', 4])
  })

  it('messages of a repeated run are kept, also if the provider repeats the id of one that was rewritten', async () => {
    const again = agentMiddleware('again', async (_, callNext) => {
      await callNext()
      await callNext()
    })
    let rewrites = 0
    const once = lifecycle({
      name: 'once',
      afterModelCall: ({ run }) => {
        if (rewrites++ === 0) run.messages.rewrite((messages) => [...messages])
      },
    })
    const said = (text: string) => ({
      messages: [
        { id: 'm', role: 'assistant' as const, contents: [{ type: 'text' as const, text }] },
      ],
    })
    const client = scriptedClient([said('One.'), said('Two.')])
    const session = createSession()

    await runIn(mode, new Agent({ client, middleware: [again, once] }), { session })

    expect(session.messages.map(messageText)).toEqual(['Hello', 'Two.'])
  })

  it('what a termination withholds is nowhere, also after a rewrite', async () => {
    let ended: RunContext | undefined
    const end = agentMiddleware('end', async ({ run }, callNext) => {
      ended = run
      await callNext()
      throw new MiddlewareTermination('enough')
    })
    const rewrite = lifecycle({
      name: 'rewrite',
      afterModelCall: ({ run }) => run.messages.rewrite((messages) => [...messages]),
    })
    const client = scriptedClient(['A secret.'])
    const session = createSession()

    await runIn(mode, new Agent({ client, middleware: [end, rewrite] }), { session })

    expect(session.messages.map(messageText)).toEqual(['Hello'])
    expect(ended!.messages.all.map(messageText)).toEqual(['Hello'])
  })
})

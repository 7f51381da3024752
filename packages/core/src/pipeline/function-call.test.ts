import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { FunctionInvocationContext } from '../index.ts'
import { Agent, agentMiddleware, BudgetExhausted, functionMiddleware, tool } from '../index.ts'

const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })

describe.each(runModes)('a tool call, %s', (mode) => {
  it('has no result of before where a middleware calls again', async () => {
    const seen: unknown[] = []
    const again = functionMiddleware('again', async (_, callNext) => {
      await callNext()
      await callNext()
    })
    const inside = functionMiddleware('inside', async (context, callNext) => {
      seen.push(context.result)
      await callNext()
    })
    const client = scriptedClient([callFunction('look'), 'Done.'])

    await runIn(mode, new Agent({ client, tools: [look], middleware: [again, inside] }))

    expect(seen).toEqual([undefined, undefined])
  })

  it('was executed, also where the run has paused since', async () => {
    const seen: boolean[] = []
    const asking = functionMiddleware('asking', async (context, callNext) => {
      await callNext()
      seen.push(context.executed)
      await context.run.interrupt('Is that right?')
    })
    const client = scriptedClient([callFunction('look'), 'Done.'])
    const agent = new Agent({ client, tools: [look], middleware: asking })
    const { checkpoint, pending } = await runIn(mode, agent)

    await agent.resume(checkpoint!, { [pending[0]!.id]: true })

    expect(seen).toEqual([true, true])
  })

  it('refuses a result that its tool assigns after it has returned, naming the tool', async () => {
    const contexts: FunctionInvocationContext[] = []
    const keeping = tool({
      name: 'keep',
      description: 'Keeps.',
      execute: (_, context) => void contexts.push(context),
    })
    const client = scriptedClient([callFunction('keep'), 'Done.'])
    await runIn(mode, new Agent({ client, tools: [keeping] }))

    const assign = () => contexts.map((context) => Object.assign(context, { result: 'late' }))

    expect(assign).toThrow('"keep" assigned context.result after it had returned')
  })

  it('counts as approved once, also where the run was aborted before the tool was done', async () => {
    const gone = new AbortController()
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      approval: 'always',
      execute: () => {
        gone.abort(new Error('gone'))
        return new Promise(() => {})
      },
    })
    const agent = new Agent({ client: scriptedClient([callFunction('pay')]), tools: [pay] })
    const { checkpoint, pending } = await runIn(mode, agent)
    const answers = { [pending[0]!.id]: true }
    await expect(agent.resume(checkpoint!, answers, { signal: gone.signal })).rejects.toThrow(
      'gone',
    )

    const again = agent.resume(checkpoint!, answers)

    await expect(again).rejects.toMatchObject({ code: 'approval_used' })
  })

  it('waits for a schema that checks edited arguments by itself', async () => {
    const parameters = z.object({ at: z.coerce.number().refine(async () => true) })
    const seen: unknown[] = []
    const watch = tool({
      name: 'watch',
      description: 'Watches.',
      parameters,
      execute: (args) => void seen.push(args),
    })
    const editing = functionMiddleware('editing', async (context, callNext) => {
      context.arguments = { at: '2' }
      await callNext()
    })
    const client = scriptedClient([callFunction('watch', { at: 1 }), 'Done.'])

    await runIn(mode, new Agent({ client, tools: [watch], middleware: editing }))

    expect(seen).toEqual([{ at: 2 }])
  })

  it('ends the run with what its tool throws once the signal of the run is aborted', async () => {
    const own = new AbortController()
    const cut = new Error('cut')
    const work = tool({
      name: 'work',
      description: 'Works.',
      execute: () => {
        own.abort(new Error('late'))
        throw cut
      },
    })
    const impatient = agentMiddleware('impatient', async (context, callNext) => {
      context.signal = own.signal
      await callNext()
    })
    const client = scriptedClient([callFunction('work')])

    const running = runIn(mode, new Agent({ client, tools: [work], middleware: impatient }))

    await expect(running).rejects.toBe(cut)
  })

  it('keeps its result where it has used up a budget', async () => {
    const budget = functionMiddleware('budget', async (_, callNext) => {
      await callNext()
      throw new BudgetExhausted('calls', 1)
    })
    const client = scriptedClient([callFunction('look')])

    const { status, messages } = await runIn(
      mode,
      new Agent({ client, tools: [look], middleware: budget }),
    )

    expect(status).toBe('budget_exhausted')
    expect(messages[1]?.contents).toMatchObject([{ contents: [{ text: 'seen' }] }])
  })

  it('with a time limit leaves the signal of its tool alone once it is done', async () => {
    const later = new AbortController()
    const signals: AbortSignal[] = []
    const quick = tool({
      name: 'quick',
      description: 'Is quick.',
      timeoutMs: 1000,
      execute: (_, { signal }) => void signals.push(signal),
    })
    const own = functionMiddleware('own', async (context, callNext) => {
      context.signal = later.signal
      await callNext()
    })
    const client = scriptedClient([callFunction('quick'), 'Done.'])
    await runIn(mode, new Agent({ client, tools: [quick], middleware: own }))

    later.abort()

    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  })
})

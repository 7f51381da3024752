import { guardrail } from '@lamella/guardrail'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentOptions, Checkpoint, Middleware } from '../index.ts'
import type { InterceptorMiddleware } from '../contract/interceptors.ts'
import type { IterationContext } from '../authoring.ts'
import { interceptLoop } from '../authoring.ts'
import { Agent, agentMiddleware, createSession, messageText, outcomeOf, tool } from '../index.ts'

type Iteration = InterceptorMiddleware<IterationContext>

const echo = tool({ name: 'echo', description: '', execute: () => 'echo' })
const around = (iteration: Iteration): Middleware =>
  agentMiddleware('late', async ({ run }, callNext) => {
    interceptLoop(run, { name: 'late', iteration })
    await callNext()
  })

/** Adds a message before the second model call, and one behind the first answer. */
const twice: Iteration = async (context, next) => {
  if (context.iteration === 1 && !context.resumed) await context.addInput('Hurry.')
  await next()
  if (context.iteration === 1) await context.addInput('And then?')
}

describe.each(runModes)('input that joins a run, %s', (mode) => {
  function make(iteration: Iteration, options: Partial<AgentOptions> = {}) {
    const client = scriptedClient([callFunction('echo', {}, 'c1'), 'Done.', 'More.'])
    const middleware = [options.middleware ?? [], around(iteration)]
    const agent = new Agent({ client, tools: [echo], ...options, middleware })
    const read = () => client.requests.map(({ messages }) => messages.map(messageText))
    return { agent, client, read }
  }

  it('stands where it was added, and what would be the end is not', async () => {
    const { agent, read } = make(twice)
    const session = createSession()

    const response = await runIn(mode, agent, { session })

    expect(response).toMatchObject({ status: 'completed', text: 'Done.More.' })
    expect(read()[1]!.slice(-1)).toEqual(['Hurry.'])
    expect(read()[2]!.slice(-2)).toEqual(['Done.', 'And then?'])
    expect(session.messages.map(({ role }) => role).join(' ')).toBe(
      'user assistant tool user assistant user assistant',
    )
  })

  it('passes the gates of the run, which may edit it or keep it out', async () => {
    const gates = agentMiddleware('gates', async ({ run }, callNext) => {
      run.gateInput((messages) =>
        messages.map((entry) => ({ ...entry, contents: [{ type: 'text', text: 'Quick.' }] })),
      )
      run.gateInput(async (messages) => {
        if (messages.some((entry) => messageText(entry) !== 'Quick.')) throw new Error('unjudged')
        return messages
      })
      await callNext()
    })
    const { agent, read } = make(twice, { middleware: gates })

    await runIn(mode, agent)

    expect(read()[1]!.at(-1)).toBe('Quick.')
  })

  it('is judged by the input guardrails of the run', async () => {
    const rude = guardrail({
      name: 'rude',
      applyTo: ['input'],
      check: ({ text }) => ({ action: text.includes('Hurry') ? 'block' : 'allow' }),
    })
    const kept: unknown[] = []
    const { agent, read } = make(
      async (context, next) => {
        if (context.iteration === 1)
          await context.addInput('Hurry.').catch((error: unknown) => kept.push(error))
        await next()
      },
      { middleware: rude },
    )

    const { status } = await runIn(mode, agent)

    expect(status).toBe('completed')
    expect(kept).toMatchObject([{ code: 'guardrail_tripped' }])
    expect(read().flat()).not.toContain('Hurry.')
  })

  it('cannot come between a call and its result', async () => {
    const { agent } = make(async (context, next) => {
      const going = next()
      await Promise.all([going, context.addInput('Now!')])
    })

    await expect(runIn(mode, agent)).rejects.toMatchObject({ code: 'middleware_contract' })
  })

  it('continues no run that ends for another reason than an answer', async () => {
    const tried: unknown[] = []
    const { agent } = make(
      async (context, next) => {
        await next()
        if (context.ending !== undefined)
          await context.addInput('More!').catch((error: unknown) => tried.push(error))
      },
      { functionInvocation: { maxIterations: 1 } },
    )

    const { status } = await runIn(mode, agent)

    expect(status).toBe('max_iterations')
    expect(tried).toMatchObject([{ code: 'middleware_contract' }])
  })

  it('is in the checkpoint of its step', async () => {
    const checkpoints: Checkpoint[] = []
    const dies = agentMiddleware('dies', async (_, callNext) => {
      await callNext()
      throw new Error('crash')
    })
    const { agent, read } = make(twice, { middleware: dies })
    const onCheckpoint = (checkpoint: Checkpoint): void => void checkpoints.push(checkpoint)
    await expect(runIn(mode, agent, { onCheckpoint })).rejects.toThrow('crash')
    const step = checkpoints.findLast(({ journal }) => !journal.some(({ kind }) => kind === 'end'))!
    const again = new Agent({ client: scriptedClient(['Again.']), tools: [echo] })

    const { messages } = await again.resume(step, {})

    expect(read()).toHaveLength(3)
    expect(JSON.stringify(step)).toContain('And then?')
    expect(messages.map(messageText)).toContain('Again.')
  })

  it('is recorded when it has been added', async () => {
    const steps: string[] = []
    const seen: boolean[] = []
    const { agent } = make(async (context, next) => {
      if (context.iteration === 0) await context.addInput('Hurry.')
      seen.push(steps.at(-1)?.includes('Hurry.') === true)
      await next()
    })

    await runIn(mode, agent, { onCheckpoint: (step) => void steps.push(JSON.stringify(step)) })

    expect(seen).toEqual([true, true])
  })

  it('is there once when a run continues from a step behind an answered request', async () => {
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
    const join: Iteration = async (context, next) => {
      if (!context.resumed && context.iteration > 0) await context.addInput({ ...hurry })
      await next()
    }
    const hurry = { id: 'hurry', role: 'user', contents: 'Hurry.' } as const
    const process = (answers: unknown[]) => {
      const client = scriptedClient(answers as never)
      return { client, agent: new Agent({ client, tools: [pay], middleware: around(join) }) }
    }
    const { pending, checkpoint } = await process([callFunction('pay', {}, 'c1')]).agent.run('Pay')
    const steps: Checkpoint[] = []
    const dies = process([new Error('crash')]).agent.resume(
      checkpoint!,
      { [pending[0]!.id]: true },
      { onCheckpoint: (step) => void steps.push(step) },
    )
    await expect(dies).rejects.toThrow('crash')
    const { agent, client } = process(['Done.'])

    await agent.resume(JSON.parse(JSON.stringify(steps.at(-1))) as Checkpoint, {})

    const read = client.requests[0]!.messages.map(messageText)
    expect(read.filter((text) => text === 'Hurry.')).toHaveLength(1)
  })

  it('stays in the session with the effects of a run that fails', async () => {
    const client = scriptedClient([callFunction('echo', {}, 'c1'), new Error('cut')])
    const session = createSession()
    const middleware = around(twice)
    const agent = new Agent({ client, tools: [echo], middleware })

    const error: unknown = await runIn(mode, agent, { session }).catch((cause: unknown) => cause)

    expect(outcomeOf(error)?.status).toBe('failed')
    expect(session.messages.map(messageText)).toContain('Hurry.')
  })
})

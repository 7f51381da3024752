import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { LoopInterceptor } from '../authoring.ts'
import { interceptLoop } from '../authoring.ts'
import type { AgentOptions } from '../index.ts'
import { Agent, agentMiddleware, lifecycle, tool } from '../index.ts'

const echo = tool({ name: 'echo', description: '', execute: () => 'echo' })

describe.each(runModes)('the seams of the loop, %s', (mode) => {
  function make(interceptor: LoopInterceptor, options: Partial<AgentOptions> = {}) {
    const client = scriptedClient([callFunction('echo', {}, 'c1'), 'Done.'])
    const middleware = agentMiddleware('outer', async ({ run }, callNext) => {
      interceptLoop(run, interceptor)
      await callNext()
    })
    return { client, agent: new Agent({ client, tools: [echo], middleware, ...options }) }
  }

  it.each(['iteration', 'batch'] as const)(
    'a middleware that continues twice breaks the %s',
    async (seam) => {
      const { agent } = make({
        name: 'twice',
        [seam]: async (_: unknown, next: () => Promise<void>) => {
          await next()
          await next()
        },
      })

      await expect(runIn(mode, agent)).rejects.toMatchObject({
        code: 'middleware_contract',
        middleware: 'twice',
      })
    },
  )

  it.each(['iteration', 'batch'] as const)(
    'a middleware that does not continue breaks the %s',
    async (seam) => {
      const { agent } = make({ name: 'lazy', [seam]: async () => {} })

      await expect(runIn(mode, agent)).rejects.toMatchObject({ middleware: 'lazy' })
    },
  )

  it('a middleware may stop the run instead, and the calls have results', async () => {
    const { agent, client } = make({
      name: 'stop',
      batch: async ({ run }, next) => {
        run.stop('enough', { response: 'Stopped.' })
        await next()
      },
    })

    const { status, text, messages } = await runIn(mode, agent)

    expect([status, text]).toEqual(['terminated', 'Stopped.'])
    expect(messages.flatMap(({ contents }) => contents.map(({ type }) => type))).toEqual([
      'function-call',
      'function-result',
      'text',
    ])
    expect(client.requests).toHaveLength(1)
  })

  it('a middleware around the calls may pause the run, and is entered again with the answer', async () => {
    const asked: unknown[] = []
    let ran = 0
    const counting = tool({ name: 'echo', description: '', execute: () => void ran++ })
    const { agent } = make(
      {
        name: 'ask',
        batch: async ({ run, calls }, next) => {
          asked.push(await run.interrupt({ allow: calls.map(({ name }) => name) }))
          await next()
        },
      },
      { tools: [counting] },
    )

    const paused = await runIn(mode, agent)
    expect(paused).toMatchObject({ status: 'paused', pending: [{ payload: { allow: ['echo'] } }] })
    expect(ran).toBe(0)
    const response = await agent.resume(paused.checkpoint!, { [paused.pending[0]!.id]: 'yes' })

    expect(response.text).toBe('Done.')
    expect(asked).toEqual(['yes'])
    expect(ran).toBe(1)
  })

  it('a middleware that asks when the calls are over does not run them again', async () => {
    let ran = 0
    const counting = tool({ name: 'echo', description: '', execute: () => void ran++ })
    const { agent } = make(
      {
        name: 'review',
        batch: async ({ run }, next) => {
          await next()
          await run.interrupt('fine?')
        },
      },
      { tools: [counting] },
    )

    const paused = await runIn(mode, agent)
    const response = await agent.resume(paused.checkpoint!, { [paused.pending[0]!.id]: true })

    expect(response.text).toBe('Done.')
    expect(ran).toBe(1)
  })

  it('a middleware before the model call may pause the run', async () => {
    const { agent, client } = make({
      name: 'ask',
      iteration: async (context, next) => {
        if (context.iteration === 1) await context.run.interrupt('continue?')
        await next()
      },
    })

    const paused = await runIn(mode, agent)
    const response = await agent.resume(paused.checkpoint!, { [paused.pending[0]!.id]: true })

    expect(response.text).toBe('Done.')
    expect(client.requests).toHaveLength(2)
  })

  it('after a pause the round continues, without its before hooks and with its after hooks', async () => {
    const log: string[] = []
    const asking = tool({
      name: 'echo',
      description: '',
      approval: 'always',
      execute: () => 'echo',
    })
    const hooks = lifecycle({
      name: 'log',
      beforeIteration: ({ iteration }) => void log.push(`before ${iteration}`),
      afterIteration: ({ iteration, toolResults }) =>
        void log.push(`after ${iteration}: ${toolResults.length}`),
    })
    const client = scriptedClient([callFunction('echo', {}, 'c1'), 'Done.'])
    const agent = new Agent({ client, tools: [asking], middleware: hooks })

    const paused = await runIn(mode, agent)
    await agent.resume(paused.checkpoint!, { [paused.pending[0]!.id]: true })

    expect(log).toEqual(['before 0', 'after 0: 0', 'after 0: 1', 'before 1', 'after 1: 0'])
  })

  it('the limit of rounds can be raised from inside, by asking', async () => {
    const client = scriptedClient([callFunction('echo'), callFunction('echo'), 'Done.'])
    const more = lifecycle({
      name: 'continue',
      async beforeIteration({ run, iteration }) {
        if (iteration === 1 && (await run.request({ type: 'continue' })) === true)
          run.allowIterations(5)
      },
    })
    const agent = new Agent({
      client,
      tools: [echo],
      middleware: more,
      functionInvocation: { maxIterations: 1 },
    })

    expect((await runIn(mode, agent, { onRequest: () => true })).status).toBe('completed')
    expect(client.requests).toHaveLength(3)
  })
})

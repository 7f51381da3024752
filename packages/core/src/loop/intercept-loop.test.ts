import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { LoopInterceptor } from '../contract/interceptors.ts'
import { interceptLoop } from '../authoring.ts'
import type { AgentOptions, Message } from '../index.ts'
import type { IterationContext } from '../authoring.ts'
import { play } from './loop-invariant.test-helper.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  message,
  tool,
} from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'

const textOf = ({ contents }: Message): string =>
  contents.map((one) => 'text' in one && one.text).join()
const echo = tool({ name: 'echo', description: '', execute: () => 'echo' })

describe.each(runModes)('the inner levels of the loop, %s', (mode) => {
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
    async (level) => {
      const { agent } = make({
        name: 'twice',
        [level]: async (_: unknown, next: () => Promise<void>) => {
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
    async (level) => {
      const { agent } = make({ name: 'lazy', [level]: async () => {} })

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

  it('a call and the middleware around it may ask one after the other', async () => {
    const asks = functionMiddleware('asks', async ({ run }, callNext) => {
      await run.interrupt('run it?')
      await callNext()
    })
    const around = agentMiddleware('outer', async ({ run }, callNext) => {
      interceptLoop(run, {
        name: 'review',
        batch: async (context, next) => {
          await next()
          await context.run.interrupt('fine?')
        },
      })
      await callNext()
    })
    const client = scriptedClient([callFunction('echo'), 'Done.'])
    const agent = new Agent({ client, tools: [echo], middleware: [around, asks] })

    const paused = await runIn(mode, agent)
    const answers = paused.pending.map(({ id }) => [id, true])
    const response = await agent.resume(paused.checkpoint!, Object.fromEntries(answers))

    expect(paused.pending).toMatchObject([{ payload: 'run it?' }, { payload: 'fine?' }])
    expect(response.text).toBe('Done.')
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

    expect(log).toEqual(['before 0', 'after 0: 1', 'before 1', 'after 1: 0'])
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

  it('a middleware that is put around the loop after the loop is a mistake', async () => {
    const client = scriptedClient(['Done.'])
    const late = agentMiddleware('late', async ({ run }, callNext) => {
      await callNext()
      interceptLoop(run, { name: 'never' })
    })

    await expect(runIn(mode, new Agent({ client, middleware: late }))).rejects.toThrow(
      'interceptLoop()',
    )
  })

  it('one that is put around it again, because a middleware repeats the run, counts once', async () => {
    const log: string[] = []
    const repeat = agentMiddleware('repeat', async (_, callNext) => {
      await callNext()
      await callNext()
    })
    const hooks = lifecycle({
      name: 'log',
      beforeIteration: () => void log.push('before'),
    })
    const client = scriptedClient(['Once.', 'Twice.'])
    const agent = new Agent({ client, middleware: [hooks, repeat, hooks] })

    await runIn(mode, agent)

    expect(log).toEqual(['before', 'before', 'before', 'before'])
  })

  it('so is one that is put around it during a model call', async () => {
    const late = chatMiddleware('late', async ({ run }, callNext) => {
      interceptLoop(run, { name: 'never', response: () => {} })
      await callNext()
    })
    const agent = new Agent({ client: scriptedClient(['Done.']), middleware: late })

    await expect(runIn(mode, agent)).rejects.toMatchObject({
      code: 'middleware_contract',
      message: expect.stringContaining('interceptLoop()'),
    })
  })

  it.each([
    ['messages', []],
    ['instructions', 'Be brief.'],
    ['options', {}],
    ['skipModelCall', true],
    ['overrideResponse', 'Done.'],
  ] as const)('assigning %s after the model call is a mistake', async (name, value) => {
    const { agent } = make({
      name: 'late',
      iteration: async (context, next) => {
        await next()
        Object.assign(context, { [name]: value })
      },
    })

    await expect(runIn(mode, agent)).rejects.toMatchObject({
      code: 'middleware_contract',
      middleware: 'late',
      message: expect.stringContaining(`context.${name} too late`),
    })
  })

  it.each([
    ['skipToolExecution', true],
    ['overrideResult', () => 'nothing'],
  ] as const)('assigning %s after the tool calls is a mistake', async (name, value) => {
    const { agent } = make({
      name: 'late',
      batch: async (context, next) => {
        await next()
        Object.assign(context, { [name]: value })
      },
    })

    await expect(runIn(mode, agent)).rejects.toThrow(`context.${name} too late`)
  })

  it('an error names the middleware whose edit came too late, also in a response hook', async () => {
    const edit = (context: IterationContext) => void (context.instructions = 'Be brief.')
    const middleware = agentMiddleware('outer', async ({ run }, callNext) => {
      interceptLoop(run, { name: 'edits', response: edit })
      interceptLoop(run, { name: 'looks', response: () => {}, iteration: (_, next) => next() })
      await callNext()
    })
    const agent = new Agent({ client: scriptedClient(['Done.']), middleware })

    await expect(runIn(mode, agent)).rejects.toMatchObject({ middleware: 'edits' })
  })

  it('the inputs of an iteration that resumes cannot be edited any more', async () => {
    const asking = tool({
      name: 'echo',
      description: '',
      approval: 'always',
      execute: () => 'echo',
    })
    const { agent } = make(
      {
        name: 'edits',
        iteration: async (context, next) => {
          if (context.resumed) context.options = { temperature: 1 }
          await next()
        },
      },
      { tools: [asking] },
    )

    const paused = await runIn(mode, agent)
    const resumed = agent.resume(paused.checkpoint!, { [paused.pending[0]!.id]: true })

    await expect(resumed).rejects.toMatchObject({
      code: 'middleware_contract',
      middleware: 'edits',
    })
  })

  it('an iteration shows what it sends, with the edits of middlewares further out', async () => {
    const seen: unknown[] = []
    const note = message('user', 'A note.')
    const client = scriptedClient(['Done.'])
    const middleware = agentMiddleware('outer', async ({ run }, callNext) => {
      interceptLoop(run, {
        name: 'adds',
        iteration: async (context, next) => {
          context.messages = [...context.messages, note]
          await next()
        },
      })
      interceptLoop(run, {
        name: 'reads',
        iteration: async ({ messages, instructions, options }, next) => {
          seen.push(messages.map(textOf), instructions, options.temperature)
          await next()
        },
      })
      await callNext()
    })
    const agent = new Agent({
      client,
      middleware,
      instructions: 'Be kind.',
      options: { temperature: 0.5 },
    })

    await runIn(mode, agent)

    expect(seen).toEqual([['Hello', 'A note.'], 'Be kind.', 0.5])
    expect(client.requests[0]!.messages.map(textOf)).toContain('A note.')
  })

  it('the messages of an iteration cannot be edited in place, where it would change nothing', async () => {
    const { agent } = make({
      name: 'adds',
      iteration: async ({ messages }, next) => {
        ;(messages as Message[]).push(message('user', 'A note.'))
        await next()
      },
    })

    await expect(runIn(mode, agent)).rejects.toThrow(TypeError)
  })

  it('an iteration has its response as soon as the model has answered', async () => {
    const seen: unknown[] = []
    const { agent } = make({
      name: 'reads',
      iteration: async (context, next) => {
        seen.push(context.response)
        await next()
        seen.push(context.response?.text)
      },
      response: (context) => void seen.push(context.response?.text),
    })

    await runIn(mode, agent)

    expect(seen).toEqual([undefined, '', '', undefined, 'Done.', 'Done.'])
  })

  it('a model call that is skipped without a response has an empty one', async () => {
    const { agent, client } = make({
      name: 'skips',
      iteration: async (context, next) => {
        context.skipModelCall = true
        await next()
      },
    })

    expect(await runIn(mode, agent)).toMatchObject({ status: 'completed', text: '' })
    expect(client.requests).toHaveLength(0)
  })

  it('a middleware may leave out the instructions', async () => {
    const { agent, client } = make(
      {
        name: 'removes',
        iteration: async (context, next) => {
          if (context.iteration === 1) context.instructions = undefined
          await next()
        },
      },
      { instructions: 'Be brief.' },
    )

    await runIn(mode, agent)

    expect(client.requests.map(({ instructions }) => instructions)).toEqual([
      'Be brief.',
      undefined,
    ])
  })

  it('the response in place of a model call reaches the caller', async () => {
    const { agent } = make({
      name: 'answers',
      iteration: async (context, next) => {
        context.overrideResponse = 'An own answer.'
        context.skipModelCall = true
        await next()
      },
    })

    const { response } = await play(agent, 'Go', { stream: mode === 'streamed' })

    expect(response.text).toBe('An own answer.')
  })

  it('calls that a middleware skips are denied, and do not count as failed', async () => {
    const client = scriptedClient([...Array(5).fill(callFunction('echo')), 'Done.'])
    const middleware = agentMiddleware('outer', async ({ run }, callNext) => {
      interceptLoop(run, {
        name: 'skips',
        batch: async (context, next) => {
          context.skipToolExecution = true
          await next()
        },
      })
      await callNext()
    })
    const agent = new Agent({
      client,
      tools: [echo],
      middleware,
      functionInvocation: { maxConsecutiveErrorsPerRequest: 1 },
    })

    const { status, messages } = await runIn(mode, agent)

    expect(status).toBe('completed')
    const results = messages.flatMap(({ contents }) =>
      contents.filter((content) => content.type === 'function-result'),
    )
    expect(results).toHaveLength(5)
    expect(results[0]!.error).toMatchObject({ code: 'denied' })
  })
})

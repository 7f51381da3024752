import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentOptions, Block, RunEvent, RunStatus } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  BudgetExhausted,
  chatMiddleware,
  createSession,
  functionMiddleware,
  GuardrailTripped,
  LamellaError,
  MiddlewareTermination,
  outcomeOf,
  ProviderError,
  tool,
  ToolError,
} from '../index.ts'
import { failureOf, modes, outline, play } from '../loop/loop-invariant.test-helper.ts'

const secret = 'hunter2'
const block: Block = {
  guardrail: 'g',
  level: 'agent',
  stage: 'output',
  category: 'secret',
  message: '',
}

describe.each(modes)('how a run ends, $name', ({ stream }) => {
  function make(steps: readonly ScriptedStep[], options: Partial<AgentOptions> = {}) {
    const client = scriptedClient(steps)
    const work = tool({ name: 'work', description: '', execute: () => 'ok' })
    const gated = tool({ name: 'gated', description: '', approval: 'always', execute: () => 'ok' })
    return { client, agent: new Agent({ client, tools: [work, gated], ...options }) }
  }

  const work = callFunction('work', {}, 'c1')
  const throwing = (error: Error) =>
    chatMiddleware('throws', async ({ iteration }, callNext) => {
      if (iteration === 1) throw error
      await callNext()
    })

  it.each<[RunStatus, ScriptedStep[], Partial<AgentOptions>]>([
    ['completed', ['Done.'], {}],
    ['terminated', [work], { middleware: throwing(new MiddlewareTermination('enough')) }],
    ['blocked', [work], { middleware: throwing(new GuardrailTripped(block)) }],
    ['budget_exhausted', [work], { middleware: throwing(new BudgetExhausted('tokens', 5)) }],
    ['max_iterations', [work, 'Done.'], { functionInvocation: { maxIterations: 1 } }],
    ['paused', [callFunction('gated', {}, 'c1')], {}],
  ])('`%s` is a response, not an error', async (status, steps, options) => {
    const { agent } = make(steps, options)

    const { response } = await play(agent, 'Go', { stream })

    expect(response.status).toBe(status)
    expect(response.checkpoint === undefined).toBe(status !== 'paused')
    expect(response.block).toEqual(status === 'blocked' ? block : undefined)
  })

  it('a termination at agent level ends the run with its result, or with nothing', async () => {
    const end = (result?: string, after = false) =>
      agentMiddleware('end', async (_, callNext) => {
        if (after) await callNext()
        throw new MiddlewareTermination('enough', { result })
      })

    const results = await Promise.all(
      [end('Instead.'), end(), end(undefined, true), end('Instead.', true)].map(
        async (middleware) => {
          const { agent } = make(['Said.'], { middleware })
          const { response } = await play(agent, 'Go', { stream })
          return [response.status, response.reason, response.text]
        },
      ),
    )

    expect(results).toEqual([
      ['terminated', 'enough', 'Instead.'],
      ['terminated', 'enough', ''],
      ['terminated', 'enough', ''],
      ['terminated', 'enough', 'Instead.'],
    ])
  })

  it('a run whose updates a transform has cut is completed', async () => {
    const cut = agentMiddleware('cut', async (context, callNext) => {
      context.transformUpdates({
        transform: (update, controller) => {
          controller.enqueue(update)
          if (update.contents.length > 0) controller.terminate()
        },
      })
      await callNext()
    })
    const { agent } = make(['Done.'], { middleware: cut })

    const { response } = await play(agent, 'Go', { stream })

    expect([response.status, response.text]).toEqual(['completed', 'Done.'])
  })

  describe('what a guardrail blocked', () => {
    const guardrails = {
      'of the whole run': agentMiddleware('guardrail', async (_, callNext) => {
        if (JSON.stringify(await callNext()).includes(secret)) throw new GuardrailTripped(block)
      }),
      'of a model call': chatMiddleware('guardrail', async (_, callNext) => {
        if (JSON.stringify(await callNext()).includes(secret)) throw new GuardrailTripped(block)
      }),
      'of a tool call': functionMiddleware('guardrail', async (context, callNext) => {
        if (JSON.stringify(context.arguments).includes(secret)) throw new GuardrailTripped(block)
        await callNext()
      }),
      'of the updates of the run': agentMiddleware('guardrail', async (context, callNext) => {
        context.transformUpdates({
          transform(update, controller) {
            if (JSON.stringify(update).includes(secret)) throw new GuardrailTripped(block)
            controller.enqueue(update)
          },
        })
        await callNext()
      }),
    }
    const leaks = [callFunction('work', { password: secret }, 'c1'), `It is ${secret}.`]

    it.each(Object.entries(guardrails))(
      'by a guardrail %s is in no response, session or event',
      async (_, middleware) => {
        const session = createSession()
        const events: RunEvent[] = []
        const { agent } = make(leaks, { middleware, blockMessage: 'No.' })

        const { response } = await play(agent, 'Go', {
          session,
          onEvent: (event) => events.push(event),
          stream,
        })

        expect(response).toMatchObject({
          status: 'blocked',
          text: 'No.',
          finishReason: 'content-filter',
          block,
        })
        expect(JSON.stringify([response, session, events])).not.toContain(secret)
      },
    )

    it.each(Object.entries(guardrails))(
      "by a guardrail %s is not in the error either, with `onBlock: 'throw'`",
      async (_, middleware) => {
        const session = createSession()
        const { agent } = make(leaks, { middleware, onBlock: 'throw' })

        const error = await failureOf(play(agent, 'Go', { session, stream }))

        expect(LamellaError.is(error, 'guardrail_tripped')).toBe(true)
        expect(error).toMatchObject({ block })
        expect(outcomeOf(error)).toMatchObject({ status: 'blocked' })
        expect(JSON.stringify([outcomeOf(error), session]) + error.message).not.toContain(secret)
      },
    )

    it("says the guardrail's own words where it has some", async () => {
      const guardrail = agentMiddleware('guardrail', () => {
        throw new GuardrailTripped({ ...block, message: 'Ask something else.' })
      })
      const { agent } = make([], { middleware: guardrail, blockMessage: 'No.' })

      const { response } = await play(agent, 'Go', { stream })

      expect(response.text).toBe('Ask something else.')
    })

    it('is thrown or returned as the run says, over the agent', async () => {
      const { agent } = make(leaks, { middleware: guardrails['of a model call'], onBlock: 'throw' })

      const { response } = await play(agent, 'Go', { onBlock: 'return', stream })

      expect(response.status).toBe('blocked')
    })
  })

  it('an error carries what was done, the usage and the attempts, where no printer shows it', async () => {
    const retry = chatMiddleware('retry', async ({ run }, callNext) => {
      try {
        await callNext()
      } catch (error) {
        run.recordAttempt({ status: 'failed', reason: 'server' })
        throw error
      }
    })
    const { agent } = make([work, new Error('down')], { middleware: retry })

    const error = await failureOf(play(agent, 'Go', { runId: 'run_1', stream }))

    expect(outcomeOf(error)).toEqual({
      status: 'failed',
      runId: 'run_1',
      messages: expect.any(Array),
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
      usageEstimated: false,
      attempts: [{ iteration: 1, status: 'failed', reason: 'server' }],
      pending: [],
    })
    expect(outline(outcomeOf(error)!.messages)).toEqual(['assistant: work(c1)', 'tool: c1 = ok'])
    expect(Object.keys(error)).not.toContain('outcome')
  })

  it('an error that was thrown before is about the run that it ends now', async () => {
    const error = new Error('down')
    const { agent } = make([error, error])

    await failureOf(play(agent, 'One', { runId: 'run_1', stream }))
    await failureOf(play(agent, 'Two', { runId: 'run_2', stream }))

    expect(outcomeOf(error)?.runId).toBe('run_2')
  })

  it('anything may be thrown: what can carry nothing carries nothing', async () => {
    const frozen = Object.freeze(new Error('frozen'))
    const { agent } = make([frozen])

    const error = await failureOf(play(agent, 'Go', { stream }))

    expect(error).toBe(frozen)
    expect([outcomeOf(error), outcomeOf('text'), outcomeOf(undefined)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('what may be thrown need not be an error', async () => {
    const thrown = [undefined, null, 'text', () => {}]
    for (const value of thrown) {
      const odd = agentMiddleware('odd', () => Promise.reject(value))
      const { agent } = make([], { middleware: odd })
      await expect(play(agent, 'Go', { stream: false })).rejects.toBe(value)
    }
  })

  it('usage that a failed call reports counts', async () => {
    const down = new ProviderError('cut', {
      kind: 'truncated_stream',
      partial: { usage: { totalTokens: 4 } },
    } as never)
    const { agent } = make([work, down])

    const error = await failureOf(play(agent, 'Go', { stream }))

    expect(outcomeOf(error)?.usage.totalTokens).toBe(19)
  })
})

describe('a stream that fails', () => {
  it('has in its outcome what the failing call had said, and the rounds before', async () => {
    const client = scriptedClient([
      callFunction('work', {}, 'c1'),
      { updates: ['One ', 'two '], error: new Error('cut') },
    ])
    const work = tool({ name: 'work', description: '', execute: () => 'ok' })

    const error = await failureOf(
      play(new Agent({ client, tools: [work] }), 'Go', { stream: true }),
    )

    expect(outline(outcomeOf(error)!.messages)).toEqual([
      'assistant: work(c1)',
      'tool: c1 = ok',
      'assistant: One two ',
    ])
    expect(outcomeOf(error)).toMatchObject({ usageEstimated: true })
  })

  it("has in its outcome only what came through the transforms of the run's middlewares", async () => {
    const client = scriptedClient([{ updates: [`It is ${secret} `], error: new Error('cut') }])
    const redact = agentMiddleware('redact', async (context, callNext) => {
      context.transformUpdates({
        transform: (update, controller) =>
          controller.enqueue(
            JSON.parse(JSON.stringify(update).replaceAll(secret, '***')) as typeof update,
          ),
      })
      await callNext()
    })

    const error = await failureOf(
      play(new Agent({ client, middleware: redact }), 'Go', { stream: true }),
    )

    expect(outline(outcomeOf(error)!.messages)).toEqual(['assistant: It is *** '])
  })
})

describe('a stream that a guardrail ends', () => {
  it("with `onBlock: 'throw'` has nothing of what was blocked in its outcome", async () => {
    const client = scriptedClient([{ updates: [`It is ${secret} `, 'indeed'] }])
    const guardrail = chatMiddleware('guardrail', async (context, callNext) => {
      context.transformUpdates({
        transform(update, controller) {
          if (JSON.stringify(update).includes('indeed')) throw new GuardrailTripped(block)
          controller.enqueue(update)
        },
      })
      await callNext()
    })
    const agent = new Agent({ client, middleware: guardrail, onBlock: 'throw' })

    const outcome = await agent.run('Go', { stream: true }).outcome()

    expect(outcome.status).not.toBe('done')
    expect(JSON.stringify(outcome)).not.toContain(secret)
  })
})

describe('a plain run that fails', () => {
  it("has nothing in its outcome that the transforms of the run's middlewares had yet to see", async () => {
    const client = scriptedClient([
      [`It is ${secret} `, callFunction('work', {}, 'c1')],
      new Error('down'),
    ])
    const redact = agentMiddleware('redact', async (context, callNext) => {
      context.transformUpdates({ transform: (_, controller) => controller.terminate() })
      await callNext()
    })

    const error = await failureOf(
      play(new Agent({ client, middleware: redact }), 'Go', { stream: false }),
    )

    expect(outcomeOf(error)!.messages).toEqual([])
  })

  it('has no result in its outcome that a tool calls cancelled, where middleware transforms the run', async () => {
    const work = tool({
      name: 'work',
      description: '',
      execute: () => {
        throw new ToolError(secret, { reason: 'cancelled' })
      },
    })
    const client = scriptedClient([callFunction('work', {}, 'c1'), new Error('down')])
    const silent = agentMiddleware('silent', async (context, callNext) => {
      context.transformUpdates({ transform() {} })
      await callNext()
    })
    const agent = new Agent({ client, tools: [work], middleware: silent })

    const error = await failureOf(play(agent, 'Go', { stream: false }))

    expect(JSON.stringify(outcomeOf(error))).not.toContain(secret)
  })
})

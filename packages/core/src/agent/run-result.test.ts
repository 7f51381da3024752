import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../index.ts'
import {
  Agent,
  BudgetExhausted,
  GuardrailTripped,
  MiddlewareTermination,
  agentMiddleware,
  chatMiddleware,
  jsonSchema,
  outcomeOf,
  tool,
} from '../index.ts'
import { outline, play } from '../loop/loop-invariant.test-helper.ts'
import { shouting } from '../stream/shouting.test-helper.ts'

const block = {
  guardrail: 'g',
  level: 'agent',
  stage: 'output',
  category: 'secret',
  message: '',
} as const

const look = tool({ name: 'look', description: '', execute: () => 'seen' })
const gated = tool({ name: 'gated', description: '', approval: 'always', execute: () => 'ok' })

describe.each(runModes)('the result of a run, %s', (mode) => {
  it('that a middleware takes from a call of its own is whole', async () => {
    const other = scriptedClient(['From elsewhere.'])
    const middleware = agentMiddleware('ask', async (context) => {
      context.result = await other.getResponse('Hi')
    })
    const agent = new Agent({ client: scriptedClient([]), middleware })

    expect(await runIn(mode, agent, { runId: 'run_1' })).toMatchObject({
      status: 'completed',
      text: 'From elsewhere.',
      runId: 'run_1',
      attempts: [],
      pending: [],
    })
  })

  it('is withheld by a termination, also where its middleware has put it back', async () => {
    const middleware = agentMiddleware('end', async (context, callNext) => {
      context.result = await callNext()
      throw new MiddlewareTermination('enough')
    })

    const { text } = await runIn(mode, new Agent({ client: scriptedClient(['Said.']), middleware }))

    expect(text).toBe('')
  })

  it('has a value, also where a middleware answers in place of the model', async () => {
    const middleware = agentMiddleware('cache', (context) => {
      context.result = '{"city":"Rome"}'
    })
    const agent = new Agent({ client: scriptedClient([]), middleware })

    const options = { responseFormat: { schema: jsonSchema({ type: 'object' }) } }
    const { value } = await runIn(mode, agent, { options })

    expect(value).toEqual({ city: 'Rome' })
  })

  it('is not one that comes after its middleware was given up', async () => {
    let letGo!: () => void
    let giveUp!: (error: Error) => void
    const released = new Promise<void>((resolve) => (letGo = resolve))
    const replace = agentMiddleware('replace', async (context, callNext) => {
      await callNext().catch(() => {})
      context.result = 'Instead.'
      letGo()
      await new Promise((resolve) => setTimeout(resolve))
    })
    const impatient = agentMiddleware('impatient', async (context, callNext) => {
      const late = new Promise((_, reject) => (giveUp = reject))
      context.transformUpdates({
        async transform(update, controller) {
          giveUp(new Error('late'))
          await released
          controller.enqueue(update)
        },
      })
      await Promise.race([callNext(), late])
    })
    const answer = agentMiddleware('answer', (context) => void (context.result = 'Late.'))
    const agent = new Agent({
      client: scriptedClient([]),
      middleware: [replace, impatient, answer],
    })

    expect((await runIn(mode, agent)).text).toBe('Instead.')
  })

  it('is the answer that used up the budget', async () => {
    const middleware = agentMiddleware('budget', async (_, callNext) => {
      await callNext()
      throw new BudgetExhausted('tokens', 5)
    })

    const response = await runIn(mode, new Agent({ client: scriptedClient(['Said.']), middleware }))

    expect(response).toMatchObject({ status: 'budget_exhausted', text: 'Said.' })
  })

  it('has what was done before a middleware ended the run in the midst of it', async () => {
    let giveUp!: (error: Error) => void
    const middleware = agentMiddleware('impatient', async (_, callNext) => {
      await Promise.race([callNext(), new Promise((_resolve, reject) => (giveUp = reject))])
    })
    const client = scriptedClient([
      callFunction('look', {}, 'c1'),
      () => {
        giveUp(new MiddlewareTermination('enough'))
        return new Promise(() => {})
      },
    ])

    const response = await runIn(mode, new Agent({ client, tools: [look], middleware }))

    expect(response).toMatchObject({ status: 'terminated', reason: 'enough' })
    expect(outline(response.messages)).toEqual(['assistant: look(c1)', 'tool: c1 = seen'])
  })

  it('is withheld by a termination, also where a middleware answers after a failure', async () => {
    const end = agentMiddleware('end', async (_, callNext) => {
      await callNext()
      throw new MiddlewareTermination('enough')
    })
    const fallback = agentMiddleware('fallback', async (context, callNext) => {
      context.transformUpdates({ transform: (update, controller) => controller.enqueue(update) })
      await callNext().catch(() => (context.result = 'Sorry.'))
    })
    const client = scriptedClient([
      callFunction('look', {}, 'c1'),
      { updates: ['Well'], error: new Error('cut') },
    ])
    const agent = new Agent({ client, tools: [look], middleware: [end, fallback] })

    const { response } = await play(agent, 'Go', { stream: mode === 'streamed' })

    expect(response.messages).toEqual([])
  })

  it.each([
    ['ends', () => Promise.reject(new MiddlewareTermination('enough'))],
    ['pauses', (run: RunContext) => run.interrupt('Again?')],
  ])('is not a draft, where the run %s before the next one', async (_, end) => {
    const again = agentMiddleware('again', async (_context, callNext) => {
      await callNext()
      await callNext()
    })
    let drafts = 0
    const limit = agentMiddleware('limit', async ({ run }, callNext) => {
      if (drafts++ > 0) await end(run)
      await callNext()
    })
    const client = scriptedClient(['A draft.'])
    const agent = new Agent({ client, middleware: [again, limit] })

    const { response } = await play(agent, 'Go', { stream: mode === 'streamed' })

    expect(response.messages).toEqual([])
  })

  it('of a middleware that stops the run may be all of it', async () => {
    const middleware = agentMiddleware('close', (context) => {
      context.run.stop('closed')
      context.result = 'We are closed.'
    })

    const response = await runIn(mode, new Agent({ client: scriptedClient([]), middleware }))

    expect(response).toMatchObject({
      status: 'terminated',
      reason: 'closed',
      text: 'We are closed.',
    })
  })

  it('of a pause has passed the transforms', async () => {
    const shout = agentMiddleware('shout', async (context, callNext) => {
      context.transformUpdates(shouting)
      await callNext()
    })
    const ask = agentMiddleware('ask', async (context, callNext) => {
      await callNext()
      context.result = 'A draft.'
      await context.run.interrupt('Good enough?')
    })
    const agent = new Agent({ client: scriptedClient(['Said.']), middleware: [shout, ask] })

    const { response } = await play(agent, 'Go', { stream: mode === 'streamed' })

    expect(response).toMatchObject({ status: 'paused', text: 'A DRAFT.' })
  })

  describe('that completes a paused one', () => {
    const complete = agentMiddleware('complete', async (context, callNext) => {
      const response = await callNext()
      context.result = { ...response, status: 'completed' }
    })

    it('has results of its open calls, and so has the stream, whatever its transforms drop', async () => {
      const quiet = agentMiddleware('quiet', async (context, callNext) => {
        context.transformUpdates({
          transform: (update, controller) => {
            if (update.role !== 'tool') controller.enqueue(update)
          },
        })
        await callNext()
      })
      const client = scriptedClient([callFunction('gated', {}, 'c1')])
      const agent = new Agent({ client, tools: [gated], middleware: [complete, quiet] })

      const { response } = await play(agent, 'Go', { stream: mode === 'streamed' })

      expect(outline(response.messages)).toEqual([
        'assistant: gated(c1), approve c1?',
        'tool: c1 = cancelled',
      ])
    })

    it('has no results where no call was open', async () => {
      const ask = chatMiddleware('ask', async ({ run }, callNext) => {
        await run.interrupt('Sure?')
        await callNext()
      })
      const agent = new Agent({ client: scriptedClient([]), middleware: [complete, ask] })

      const { status, messages } = await runIn(mode, agent)

      expect([status, messages]).toEqual(['completed', []])
    })
  })
})

describe.each(runModes)('a run that fails after its answer was taken back, %s', (mode) => {
  const passing = agentMiddleware('passing', async (context, callNext) => {
    context.transformUpdates({ transform: (update, controller) => controller.enqueue(update) })
    await callNext()
  })

  it.each([
    ['by a guardrail', () => new GuardrailTripped(block), []],
    ['by a guardrail, through a transform', () => new GuardrailTripped(block), [passing]],
    ['by a termination', () => new MiddlewareTermination('enough'), []],
    ['by a termination, through a transform', () => new MiddlewareTermination('enough'), [passing]],
  ])('has nothing of it in its outcome: %s', async (_, makeError, middleware) => {
    const end = agentMiddleware('end', async ({ run }, callNext) => {
      await callNext()
      run.tools.hide('look')
      throw makeError()
    })
    const client = scriptedClient(['A secret.'])
    const agent = new Agent({ client, tools: [look], middleware: [end, ...middleware] })

    const error = await runIn(mode, agent).catch((thrown: unknown) => thrown)

    expect(error).toMatchObject({ code: 'middleware_contract' })
    expect(outcomeOf(error)?.messages).toEqual([])
  })
})

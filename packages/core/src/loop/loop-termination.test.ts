import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { FunctionInvocationContext, Middleware, MiddlewareInput } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  BudgetExhausted,
  chatMiddleware,
  createSession,
  functionMiddleware,
  GuardrailTripped,
  MiddlewareTermination,
  tool,
} from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'
import { failureOf, modes, outline, play, resultsOf } from './loop-invariant.test-helper.ts'

describe.each(modes)('terminations in the loop, $name', ({ stream }) => {
  function make(steps: readonly ScriptedStep[], ...middleware: MiddlewareInput[]) {
    const client = scriptedClient(steps)
    const ran: string[] = []
    const work = tool({
      name: 'work',
      description: '',
      execute: (_, { callId }) => {
        ran.push(callId)
        return `did ${callId}`
      },
    })
    return { client, ran, agent: new Agent({ client, tools: [work], middleware }) }
  }

  const work = (callId: string) => callFunction('work', {}, callId)
  const at = (callId: string, act: () => unknown) =>
    functionMiddleware('at', async (context, callNext) => {
      if (context.callId !== callId) await callNext()
      else context.result = act()
    })

  describe('at function level', () => {
    it("end the loop: the tool does not run, the result is the middleware's, no model call follows", async () => {
      const end = functionMiddleware('end', (context) => {
        context.result = 'enough'
        throw new MiddlewareTermination('seen enough')
      })
      const { agent, client, ran } = make([work('c1')], end)

      const { response } = await play(agent, 'Go', { stream })

      expect(response).toMatchObject({ status: 'terminated', reason: 'seen enough' })
      expect(outline(response.messages)).toEqual(['assistant: work(c1)', 'tool: c1 = enough'])
      expect(Object.keys(resultsOf(response.messages)[0]!)).toEqual([
        'type',
        'callId',
        'name',
        'contents',
      ])
      expect(ran).toEqual([])
      client.assertDone()
    })

    it('let the siblings finish, with results in call order', async () => {
      const end = at('c1', () => {
        throw new MiddlewareTermination('enough', { result: 'stopped' })
      })
      const { agent, ran } = make([[work('c1'), work('c2'), work('c3')]], end)

      const { response } = await play(agent, 'Go', { stream })

      expect(ran).toEqual(['c2', 'c3'])
      expect(outline(response.messages)[1]).toBe('tool: c1 = stopped, c2 = did c2, c3 = did c3')
    })

    it('in a later round keep what came before', async () => {
      const end = at('c2', () => {
        throw new MiddlewareTermination('enough')
      })
      const { agent } = make([work('c1'), work('c2')], end)

      const { response } = await play(agent, 'Go', { stream })

      expect(outline(response.messages)).toEqual([
        'assistant: work(c1)',
        'tool: c1 = did c1',
        'assistant: work(c2)',
        'tool: c2 = ',
      ])
      expect(response.usage.totalTokens).toBe(30)
    })

    it.each<[string, (context: FunctionInvocationContext) => void, string]>([
      [
        "the exception's result wins over the one that is set",
        () => {
          throw new MiddlewareTermination('x', { result: 'thrown' })
        },
        'thrown',
      ],
      [
        'the one that was assigned counts where the exception has none',
        (context) => {
          context.result = 'assigned'
          throw new MiddlewareTermination('x')
        },
        'assigned',
      ],
      [
        'without a result, the one of the tool is withheld',
        () => {
          throw new MiddlewareTermination('x')
        },
        '',
      ],
    ])('after the tool: %s', async (_, act, expected) => {
      const end = functionMiddleware('end', async (context, callNext) => {
        await callNext()
        act(context)
      })
      const { agent } = make([work('c1')], end)

      const { response } = await play(agent, 'Go', { stream })

      expect(outline(response.messages)[1]).toBe(`tool: c1 = ${expected}`)
    })

    it('after a middleware inside has replaced the result withhold that one, too', async () => {
      const end = functionMiddleware('end', async (_, callNext) => {
        await callNext()
        throw new MiddlewareTermination('x')
      })
      const replace = functionMiddleware('replace', async (context, callNext) => {
        await callNext()
        context.result = 'replaced'
      })
      const { agent } = make([work('c1')], end, replace)

      const { response } = await play(agent, 'Go', { stream })

      expect(outline(response.messages)[1]).toBe('tool: c1 = ')
    })

    it('cancel a sibling that would have to be approved', async () => {
      const gated = tool({
        name: 'gated',
        description: '',
        approval: 'always',
        execute: () => 'ran',
      })
      const end = at('c1', () => {
        throw new MiddlewareTermination('enough', { result: 'stopped' })
      })
      const { agent } = make([[callFunction('gated', {}, 'c0'), work('c1')]], end)

      const { response } = await play(agent, 'Go', { tools: [gated], stream })

      expect(response).toMatchObject({ status: 'terminated', pending: [] })
      expect(outline(response.messages)[1]).toBe('tool: c0 = cancelled, c1 = stopped')
    })

    it('are seen by agent middlewares as a result, and their code after it runs', async () => {
      const seen: unknown[] = []
      const outer = agentMiddleware('outer', async (context, callNext) => {
        await callNext()
        seen.push(context.result?.status)
      })
      const end = at('c1', () => {
        throw new MiddlewareTermination('enough')
      })
      const { agent } = make([work('c1')], outer, end)

      await play(agent, 'Go', { stream })

      expect(seen).toEqual(['terminated'])
    })

    it('by a budget end the run as `budget_exhausted`; siblings finish', async () => {
      const end = at('c1', () => {
        throw new BudgetExhausted('toolCalls', 1, { result: 'No more tools.' })
      })
      const { agent } = make([[work('c1'), work('c2')]], end)

      const { response } = await play(agent, 'Go', { stream })

      expect(response).toMatchObject({ status: 'budget_exhausted', reason: 'toolCalls' })
      expect(outline(response.messages).slice(1)).toEqual([
        'tool: c1 = budget, c2 = did c2',
        'assistant: No more tools.',
      ])
    })

    it('by a guardrail block the run, and nothing of it is left', async () => {
      const block = {
        guardrail: 'g',
        level: 'function',
        stage: 'result',
        category: 'secret',
        message: '',
      } as const
      const end = functionMiddleware('guardrail', async (_, callNext) => {
        await callNext()
        throw new GuardrailTripped(block)
      })
      const { agent } = make([work('c1')], end)

      const { response } = await play(agent, 'Go', { stream })

      expect(response).toMatchObject({
        status: 'blocked',
        block,
        text: 'I cannot help with this request.',
      })
      expect(outline(response.messages)).toEqual(['assistant: I cannot help with this request.'])
    })

    it('thrown by a tool itself count as well', async () => {
      const quit = tool({
        name: 'quit',
        description: '',
        execute: () => {
          throw new MiddlewareTermination('the tool has had it', { result: 'bye' })
        },
      })
      const { agent, client } = make([callFunction('quit', {}, 'c1')])

      const { response } = await play(agent, 'Go', { tools: [quit], stream })

      expect(response).toMatchObject({ status: 'terminated', reason: 'the tool has had it' })
      client.assertDone()
    })
  })

  describe('at chat level', () => {
    const inRound = (iteration: number, act: () => never) =>
      chatMiddleware('end', async (context, callNext) => {
        if (context.iteration === iteration) act()
        await callNext()
      })

    it("with a result are the model's answer, calls in it are executed", async () => {
      const answer = inRound(0, () => {
        throw new MiddlewareTermination('cached', { result: { messages: work('c1') } })
      })
      const { agent, ran } = make(['Done.'], answer)

      const { response } = await play(agent, 'Go', { stream })

      expect(ran).toEqual(['c1'])
      expect(outline(response.messages)).toEqual([
        'assistant: work(c1)',
        'tool: c1 = did c1',
        'assistant: Done.',
      ])
      expect(response.status).toBe('completed')
    })

    it('without one end the run, with the rounds before it, and agent middlewares see the result', async () => {
      const seen: unknown[] = []
      const outer = agentMiddleware('outer', async (_, callNext) => {
        const { status, messages } = await callNext()
        seen.push(status, outline(messages))
      })
      const end = inRound(1, () => {
        throw new MiddlewareTermination('enough')
      })
      const { agent, client } = make([work('c1')], outer, end)

      const { response } = await play(agent, 'Go', { stream })

      const rounds = ['assistant: work(c1)', 'tool: c1 = did c1']
      expect(response).toMatchObject({ status: 'terminated', reason: 'enough' })
      expect(outline(response.messages)).toEqual(rounds)
      expect(seen).toEqual(['terminated', rounds])
      client.assertDone()
    })

    it('by a budget end the run as `budget_exhausted`, and agent middlewares see the result', async () => {
      const seen: unknown[] = []
      const outer = agentMiddleware(
        'outer',
        async (_, callNext) => void seen.push((await callNext()).status),
      )
      const end = inRound(1, () => {
        throw new BudgetExhausted('tokens', 100, { result: 'My tokens are used up.' })
      })
      const { agent } = make([work('c1')], outer, end)

      const { response } = await play(agent, 'Go', { stream })

      expect(response).toMatchObject({
        status: 'budget_exhausted',
        reason: 'tokens',
        text: 'My tokens are used up.',
      })
      expect(outline(response.messages)).toEqual([
        'assistant: work(c1)',
        'tool: c1 = did c1',
        'assistant: My tokens are used up.',
      ])
      expect(seen).toEqual(['budget_exhausted'])
    })

    it('in the midst of an answer withdraw what came of it', async () => {
      const cut = chatMiddleware('cut', async (context, callNext) => {
        context.transformUpdates({
          transform(update, controller) {
            if (
              update.contents.some((part) => part.type === 'text' && part.text.includes('four'))
            ) {
              throw new MiddlewareTermination('enough')
            }
            controller.enqueue(update)
          },
        })
        await callNext()
      })
      const { agent } = make(['One two three four'], cut)

      const { response, updates } = await play(agent, 'Go', { stream })

      expect(response).toMatchObject({ status: 'terminated', messages: [], text: '' })
      expect(updates.some(({ restart }) => restart === true)).toBe(stream)
    })

    it('by a guardrail unwind through agent middlewares, whose `finally` runs', async () => {
      const log: string[] = []
      const outer = agentMiddleware('outer', async (_, callNext) => {
        try {
          await callNext()
          log.push('after')
        } finally {
          log.push('finally')
        }
      })
      const block = {
        guardrail: 'g',
        level: 'chat',
        stage: 'input',
        category: 'injection',
        message: 'No.',
      } as const
      const end = inRound(1, () => {
        throw new GuardrailTripped(block)
      })
      const { agent } = make([work('c1')], outer, end)

      const { response } = await play(agent, 'Go', { stream })

      expect(log).toEqual(['finally'])
      expect(response).toMatchObject({ status: 'blocked', text: 'No.' })
      expect(outline(response.messages)).toEqual(['assistant: No.'])
    })
  })

  describe('run.stop', () => {
    const stopAt = (
      level: 'agent' | 'chat' | 'function',
      when: 'before' | 'after',
      log: string[],
    ): Middleware => {
      const process = async (
        context: { run: { stop(reason: string): void } },
        callNext: () => Promise<unknown>,
      ) => {
        if (when === 'before') context.run.stop('that will do')
        await callNext()
        if (when === 'after') context.run.stop('that will do')
        log.push('after')
      }
      return { level, name: 'stopper', process }
    }

    it.each<['agent' | 'chat' | 'function', 'before' | 'after', string[]]>([
      ['agent', 'before', []],
      ['chat', 'before', ['assistant: work(c1)', 'tool: c1 = cancelled']],
      ['chat', 'after', ['assistant: work(c1)', 'tool: c1 = cancelled']],
      ['function', 'before', ['assistant: work(c1)', 'tool: c1 = did c1']],
      ['function', 'after', ['assistant: work(c1)', 'tool: c1 = did c1']],
    ])(
      'in a middleware of level %s, %s callNext(), ends the loop at the next boundary',
      async (level, when, expected) => {
        const log: string[] = []
        const { agent, client } = make([work('c1')], stopAt(level, when, log))

        const { response } = await play(agent, 'Go', { stream })

        expect(response).toMatchObject({ status: 'terminated', reason: 'that will do' })
        expect(outline(response.messages)).toEqual(expected)
        expect(log).toEqual(['after'])
        expect(client.requests).toHaveLength(level === 'agent' ? 0 : 1)
      },
    )

    it('may give the last word', async () => {
      const stop = functionMiddleware('stop', async ({ run }, callNext) => {
        await callNext()
        run.stop('done', { response: 'That is enough.' })
        run.stop('too late', { response: 'Never said.' })
      })
      const { agent } = make([[work('c1'), work('c2')]], stop)

      const { response } = await play(agent, 'Go', { stream })

      expect(response).toMatchObject({
        status: 'terminated',
        reason: 'done',
        text: 'That is enough.',
      })
      expect(resultsOf(response.messages)).toHaveLength(2)
    })

    it('in a hook after the last iteration counts', async () => {
      const stop = lifecycle({
        name: 'stop',
        afterIteration: ({ run }) => run.stop('seen', { response: 'Checked.' }),
      })
      const { agent } = make(['Done.'], stop)

      const { response } = await play(agent, 'Go', { stream })

      expect(response).toMatchObject({ status: 'terminated', reason: 'seen' })
      expect(outline(response.messages)).toEqual(['assistant: Done.', 'assistant: Checked.'])
    })

    it('closes a call that waits for approval', async () => {
      const gated = tool({
        name: 'gated',
        description: '',
        approval: 'always',
        execute: () => 'ran',
      })
      const stop = functionMiddleware('stop', async ({ run }, callNext) => {
        await callNext()
        run.stop('done')
      })
      const { agent } = make([[work('c1'), callFunction('gated', {}, 'c2')]], stop)

      const { response } = await play(agent, 'Go', { tools: [gated], stream })

      expect(response).toMatchObject({ status: 'terminated', pending: [] })
      expect(outline(response.messages)[1]).toBe('tool: c1 = did c1, c2 = cancelled')
    })
  })

  describe('while something holds the tools back', () => {
    const hold = (verdict: () => Promise<unknown>) =>
      chatMiddleware('hold', async ({ run }, callNext) => {
        await callNext()
        run.holdTools(verdict())
      })

    it('end the run before a tool runs, and its calls are cancelled', async () => {
      const end = hold(async () => {
        throw new MiddlewareTermination('enough')
      })
      const { agent, ran } = make([[work('c1'), work('c2')]], end)

      const { response } = await play(agent, 'Go', { stream })

      expect(ran).toEqual([])
      expect(response).toMatchObject({ status: 'terminated', reason: 'enough' })
      expect(outline(response.messages)[1]).toBe('tool: c1 = cancelled, c2 = cancelled')
    })

    it('an abort does not wait for the verdict', async () => {
      const controller = new AbortController()
      const end = hold(() => {
        controller.abort(new Error('the user left'))
        return new Promise(() => {})
      })
      const { agent, ran } = make([work('c1')], end)

      const error = await failureOf(play(agent, 'Go', { signal: controller.signal, stream }))

      expect([error.message, ran]).toEqual(['the user left', []])
    })

    it('a pause is a failure: nobody would ask again when the run continues', async () => {
      const asks = chatMiddleware('hold', async ({ run }, callNext) => {
        await callNext()
        run.holdTools(run.interrupt('May they run?'))
      })
      const { agent, ran } = make([work('c1')], asks)

      const error = await failureOf(play(agent, 'Go', { stream }))

      expect(error).toMatchObject({ code: 'run_failed' })
      expect(ran).toEqual([])
    })
  })

  it('a paused run that an agent middleware ends has its open calls closed, in its session too', async () => {
    const gated = tool({ name: 'gated', description: '', approval: 'always', execute: () => 'ran' })
    const session = createSession()
    const impatient = agentMiddleware('impatient', async (_, callNext) => {
      const result = await callNext()
      if (result.status === 'paused') {
        throw new MiddlewareTermination('nobody is here to approve', { result })
      }
    })
    const { agent } = make([callFunction('gated', {}, 'c1')], impatient)

    const { response } = await play(agent, 'Go', { tools: [gated], session, stream })

    expect(response).toMatchObject({ status: 'terminated', pending: [] })
    expect(outline(response.messages)).toEqual([
      'assistant: gated(c1), approve c1?',
      'tool: c1 = cancelled',
    ])
    expect(session.pending).toEqual([])
    expect(session.messages.slice(1)).toEqual(response.messages)
  })
})

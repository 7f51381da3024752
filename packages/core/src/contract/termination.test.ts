import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentResponse, Middleware } from '../index.ts'
import {
  Agent,
  BudgetExhausted,
  GuardrailTripped,
  LamellaError,
  MiddlewareTermination,
  agentMiddleware,
  chatMiddleware,
  createSession,
  foldUpdates,
  functionMiddleware,
  isTermination,
  jsonSchema,
  outcomeOf,
  text,
  tool,
} from '../index.ts'
import { readUpdates, respondIn } from '../run/run.test-helper.ts'

const block = {
  guardrail: 'g',
  level: 'chat',
  stage: 'output',
  category: 'words',
  message: 'Not that.',
} as const

function looking(log: string[] = []) {
  return tool({
    name: 'look',
    description: 'Looks.',
    parameters: jsonSchema({ type: 'object' }),
    execute(args) {
      log.push(`look ${String(args['at'])}`)
      return `found ${String(args['at'])}`
    },
  })
}

type Level = Middleware['level']

/** A middleware that throws before or after its callNext(). */
function throwing(level: Level, when: 'before' | 'after', error: Error): Middleware {
  const process = async (_: unknown, callNext: () => Promise<unknown>): Promise<void> => {
    if (when === 'after') await callNext()
    throw error
  }
  if (level === 'agent') return agentMiddleware('ending', process)
  return level === 'chat'
    ? chatMiddleware('ending', process)
    : functionMiddleware('ending', process)
}

/** Writes down which of its parts ran. */
function watching(level: 'agent' | 'chat', log: string[]): Middleware {
  const process = async (_: unknown, callNext: () => Promise<unknown>): Promise<void> => {
    try {
      await callNext()
      log.push('after')
    } finally {
      log.push('finally')
    }
  }
  return level === 'agent' ? agentMiddleware('w', process) : chatMiddleware('w', process)
}

describe.each(runModes)('a termination at agent level, %s', (mode) => {
  it('before callNext() without a result ends the run with nothing; no model is called', async () => {
    const client = scriptedClient([])
    const ending = throwing('agent', 'before', new MiddlewareTermination('enough'))

    const response = await runIn(mode, new Agent({ client, middleware: ending }))

    expect(response).toMatchObject({
      status: 'terminated',
      reason: 'enough',
      messages: [],
      text: '',
    })
    expect(client.requests).toEqual([])
  })

  it('with a result ends the run with it', async () => {
    const client = scriptedClient([])
    const error = new MiddlewareTermination('enough', { result: 'Ended.' })

    const response = await runIn(
      mode,
      new Agent({ client, middleware: throwing('agent', 'before', error) }),
    )

    expect(response).toMatchObject({ status: 'terminated', reason: 'enough', text: 'Ended.' })
  })

  it('after callNext() withholds what the run came to, also from the session', async () => {
    const session = createSession()
    const ending = throwing('agent', 'after', new MiddlewareTermination('enough'))

    const response = await runIn(
      mode,
      new Agent({ client: scriptedClient(['Done.']), middleware: ending }),
      { session },
    )

    expect(response).toMatchObject({
      status: 'terminated',
      reason: 'enough',
      text: '',
      messages: [],
    })
    expect(session.messages.map(({ role }) => role)).toEqual(['user'])
  })

  it('after callNext() withholds what a fallback said after a failed model call', async () => {
    const ending = throwing('agent', 'after', new MiddlewareTermination('enough'))
    const fallback = agentMiddleware('fallback', async (context, callNext) => {
      await callNext().catch(() => {
        context.result = 'Said by the fallback.'
      })
    })
    const agent = new Agent({
      client: scriptedClient([new Error('refused')]),
      middleware: [ending, fallback],
    })
    const stream = agent.run('Hello', { stream: true })
    let shown = ''
    for await (const piece of stream.text({ onRestart: () => (shown = '') })) shown += piece

    expect(shown).toBe((await stream.finalResponse()).text)
    expect((await runIn(mode, agent).catch(() => ({ text: '' }))).text).toBe('')
  })

  it('after callNext() keeps the result that it is given, or that was assigned', async () => {
    const given = agentMiddleware('ending', async (context, callNext) => {
      await callNext()
      throw new MiddlewareTermination('enough', { result: context.result })
    })
    const assigned = agentMiddleware('ending', async (context, callNext) => {
      await callNext()
      context.result = 'Cut.'
      throw new MiddlewareTermination('enough')
    })
    const end = async (middleware: Middleware): Promise<string> =>
      (await runIn(mode, new Agent({ client: scriptedClient(['Done.']), middleware }))).text

    expect([await end(given), await end(assigned)]).toEqual(['Done.', 'Cut.'])
  })

  it('takes context.result, and the exception’s own result before that', async () => {
    const ending = (own: string | undefined): Middleware =>
      agentMiddleware('ending', (context) => {
        context.result = 'From the context.'
        throw new MiddlewareTermination('enough', { result: own })
      })
    const texts: string[] = []
    for (const own of [undefined, 'From the error.']) {
      const agent = new Agent({ client: scriptedClient([]), middleware: ending(own) })
      texts.push((await runIn(mode, agent)).text)
    }

    expect(texts).toEqual(['From the context.', 'From the error.'])
  })

  it('skips the outer middlewares’ code after callNext(), but for their `finally`', async () => {
    const log: string[] = []
    const ending = throwing('agent', 'before', new MiddlewareTermination('enough'))

    await runIn(
      mode,
      new Agent({ client: scriptedClient([]), middleware: [watching('agent', log), ending] }),
    )

    expect(log).toEqual(['finally'])
  })

  it('can be caught by an outer middleware, which puts a result in its place', async () => {
    const catching = agentMiddleware('catching', async (context, callNext) => {
      await callNext().catch((error: unknown) => {
        if (!isTermination(error)) throw error
        context.result = `Caught: ${error.message}`
      })
    })
    const ending = throwing('agent', 'before', new MiddlewareTermination('enough'))

    const response = await runIn(
      mode,
      new Agent({ client: scriptedClient([]), middleware: [catching, ending] }),
    )

    expect([response.status, response.text]).toEqual(['completed', 'Caught: enough'])
  })

  it('is kept by the session', async () => {
    const session = createSession()
    const error = new MiddlewareTermination('enough', { result: 'Ended.' })
    const ending = throwing('agent', 'after', error)

    await runIn(mode, new Agent({ client: scriptedClient(['Done.']), middleware: ending }), {
      session,
    })

    expect(session.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  })
})

describe.each(runModes)('a termination at chat level, %s', (mode) => {
  it('with a result ends that pipeline, and the loop takes the result as the model’s answer', async () => {
    const log: string[] = []
    const ending = chatMiddleware('ending', async ({ iteration }, callNext) => {
      if (iteration > 0) return callNext()
      throw new MiddlewareTermination('enough', {
        result: { messages: ['Let me look.', callFunction('look', { at: 1 }, 'c1')] },
      })
    })
    const client = scriptedClient(['Done.'])

    const response = await runIn(
      mode,
      new Agent({ client, tools: [looking(log)], middleware: ending }),
    )

    expect(log).toEqual(['look 1'])
    expect([response.status, response.text]).toEqual(['completed', 'Let me look.Done.'])
  })

  it('after callNext() without a result ends the run and withholds the model’s answer', async () => {
    const session = createSession()
    const ending = throwing('chat', 'after', new MiddlewareTermination('unsafe'))

    const response = await runIn(
      mode,
      new Agent({ client: scriptedClient(['How to do harm.']), middleware: ending }),
      { session },
    )

    expect(response).toMatchObject({ status: 'terminated', reason: 'unsafe', text: '' })
    expect(JSON.stringify([response, session])).not.toContain('harm')
  })

  it('after callNext() keeps the answer that it is given', async () => {
    const ending = chatMiddleware('ending', async (context, callNext) => {
      await callNext()
      throw new MiddlewareTermination('enough', { result: context.result })
    })

    const response = await runIn(
      mode,
      new Agent({ client: scriptedClient(['Done.']), middleware: ending }),
    )

    expect([response.status, response.text]).toEqual(['completed', 'Done.'])
  })

  it('without a result ends the run, with what earlier rounds had come to', async () => {
    const ending = chatMiddleware('ending', ({ iteration }, callNext) => {
      if (iteration === 0) return callNext()
      throw new MiddlewareTermination('enough')
    })
    const client = scriptedClient([['Let me look.', callFunction('look', { at: 1 })]])

    const response = await runIn(
      mode,
      new Agent({ client, tools: [looking()], middleware: ending }),
    )

    expect(response).toMatchObject({ status: 'terminated', reason: 'enough', text: 'Let me look.' })
    expect(response.messages.map(({ role }) => role)).toEqual(['assistant', 'tool'])
  })

  it('skips the outer middlewares’ code after callNext(), but for their `finally`', async () => {
    const log: string[] = []
    const error = new MiddlewareTermination('enough', { result: 'Ended.' })
    const middleware = [watching('chat', log), throwing('chat', 'before', error)]

    const { text: got } = await runIn(mode, new Agent({ client: scriptedClient([]), middleware }))

    expect([got, log]).toEqual(['Ended.', ['finally']])
  })

  it('without an agent resolves with its result, and rejects without one', async () => {
    const ending = (result?: string): Middleware =>
      throwing('chat', 'before', new MiddlewareTermination('enough', { result }))
    const client = (result?: string) => scriptedClient([], { middleware: ending(result) as never })

    expect((await respondIn(mode, client('Ended.'))).text).toBe('Ended.')
    await expect(respondIn(mode, client())).rejects.toMatchObject({
      code: 'middleware_termination',
    })
  })

  it('without an agent, after callNext(), withholds the answer', async () => {
    const ending = throwing('chat', 'after', new MiddlewareTermination('enough'))
    const client = scriptedClient(['Done.'], { middleware: ending as never })

    await expect(respondIn(mode, client)).rejects.toMatchObject({
      code: 'middleware_termination',
    })
  })

  it('of a transform, without a result, takes back what the call had shown', async () => {
    const cutting = chatMiddleware('cutting', (context, callNext) => {
      context.transformUpdates({
        transform(update, controller) {
          if (JSON.stringify(update.contents).includes('stop')) {
            throw new MiddlewareTermination('enough')
          }
          controller.enqueue(update)
        },
      })
      return callNext()
    })
    const agent = new Agent({
      client: scriptedClient(['Continue, stop here.']),
      middleware: cutting,
    })

    const response = await runIn(mode, agent)

    expect(response).toMatchObject({ status: 'terminated', messages: [] })
  })
})

describe.each(runModes)('a termination at function level, %s', (mode) => {
  it('ends the loop; siblings finish, results keep call order, earlier rounds are there', async () => {
    const log: string[] = []
    const ending = functionMiddleware('ending', async (context, callNext) => {
      const result = await callNext()
      if (context.arguments['at'] === 2) throw new MiddlewareTermination('enough', { result })
    })
    const client = scriptedClient([
      callFunction('look', { at: 1 }),
      [callFunction('look', { at: 2 }), callFunction('look', { at: 3 })],
    ])

    const response = await runIn(
      mode,
      new Agent({ client, tools: [looking(log)], middleware: ending }),
    )

    expect(response).toMatchObject({ status: 'terminated', reason: 'enough' })
    expect(log).toEqual(['look 1', 'look 2', 'look 3'])
    const results = response.messages.flatMap(({ contents }) =>
      contents.flatMap((content) => (content.type === 'function-result' ? [content] : [])),
    )
    expect(results.map(({ contents }) => contents)).toEqual([
      [text('found 1')],
      [text('found 2')],
      [text('found 3')],
    ])
    client.assertDone()
  })

  it('after the tool ran without a result withholds what the tool returned', async () => {
    const ending = throwing('function', 'after', new MiddlewareTermination('enough'))
    const client = scriptedClient([callFunction('look', { at: 1 })])

    const response = await runIn(
      mode,
      new Agent({ client, tools: [looking()], middleware: ending }),
    )

    expect(response.status).toBe('terminated')
    expect(JSON.stringify(response)).not.toContain('found 1')
  })

  it('before the tool runs gives its own result, or nothing', async () => {
    const log: string[] = []
    const read = async (result: unknown): Promise<unknown> => {
      const client = scriptedClient([callFunction('look', { at: 1 })])
      const error = new MiddlewareTermination('enough', { result })
      const middleware = throwing('function', 'before', error)
      const { messages } = await runIn(
        mode,
        new Agent({ client, tools: [looking(log)], middleware }),
      )
      return messages[1]!.contents
    }

    expect(await read('Not allowed.')).toMatchObject([{ contents: [text('Not allowed.')] }])
    expect(await read(undefined)).toMatchObject([{ callId: 'call_1', type: 'function-result' }])
    expect(log).toEqual([])
  })
})

const guarded = ['agent', 'chat', 'function'] as const

describe.each(runModes)('a tripped guardrail, %s', (mode) => {
  it.each(guarded)('at %s level blocks the run, with neutral words', async (level) => {
    const session = createSession()
    const client = scriptedClient(({ index }) =>
      index === 0 ? ['secret', callFunction('look', { at: 1 })] : 'secret',
    )
    const middleware = throwing(level, 'after', new GuardrailTripped(block))
    const agent = new Agent({ client, tools: [looking()], middleware })

    const response: AgentResponse = await runIn(mode, agent, { session })

    expect(response).toMatchObject({ status: 'blocked', text: 'Not that.', block })
    expect(JSON.stringify(response)).not.toContain('secret')
    expect(JSON.stringify(session)).not.toContain('secret')
  })

  it('further out blocks the result of a termination too', async () => {
    const guarding = agentMiddleware('guarding', (context, callNext) => {
      context.transformUpdates({
        transform(update, controller) {
          if (JSON.stringify(update.contents).includes('secret')) throw new GuardrailTripped(block)
          controller.enqueue(update)
        },
      })
      return callNext()
    })
    const error = new MiddlewareTermination('enough', { result: 'A secret.' })
    const middleware = [guarding, throwing('agent', 'before', error)]

    const response = await runIn(mode, new Agent({ client: scriptedClient([]), middleware }))

    expect([response.status, response.text]).toEqual(['blocked', 'Not that.'])
  })

  it('is put in words by the agent where the guardrail has none', async () => {
    const error = new GuardrailTripped({ ...block, message: '' })
    const middleware = throwing('agent', 'before', error)
    const agent = new Agent({
      client: scriptedClient([]),
      middleware,
      blockMessage: 'I would rather not.',
    })

    expect((await runIn(mode, agent)).text).toBe('I would rather not.')
  })

  it('rejects where the caller wants that, without a word of what was blocked', async () => {
    const middleware = throwing('agent', 'after', new GuardrailTripped(block))
    const agent = new Agent({ client: scriptedClient(['secret']), middleware, onBlock: 'throw' })

    const error: unknown = await runIn(mode, agent).catch((caught: unknown) => caught)

    expect(LamellaError.is(error, 'guardrail_tripped')).toBe(true)
    expect(outcomeOf(error)).toMatchObject({ messages: [] })
  })

  it('an exhausted budget ends the run at any level, with what there was', async () => {
    const exhausted = new BudgetExhausted('tokens', 100)
    const middleware = throwing('function', 'before', exhausted)
    const client = scriptedClient([['Let me look.', callFunction('look')]])

    const response = await runIn(mode, new Agent({ client, tools: [looking()], middleware }))

    expect(exhausted).toMatchObject({ budget: 'tokens', limit: 100 })
    expect(response).toMatchObject({ status: 'budget_exhausted', reason: 'tokens' })
    expect(response.text).toBe('Let me look.')
  })
})

describe('terminations of a streamed run', () => {
  it('a guardrail that trips over a tool result shows neutral words in its place', async () => {
    const guarding = agentMiddleware('guarding', (context, callNext) => {
      context.transformUpdates({
        transform(update, controller) {
          if (update.role === 'tool') throw new GuardrailTripped(block)
          controller.enqueue(update)
        },
      })
      return callNext()
    })
    const client = scriptedClient([callFunction('look', { at: 1 }), 'Done.'])

    const { updates, response } = await readUpdates(
      new Agent({ client, tools: [looking()], middleware: guarding }),
    )

    expect([response.status, foldUpdates(updates).text]).toEqual(['blocked', 'Not that.'])
    expect(JSON.stringify(updates)).not.toContain('found')
  })

  const cases: readonly (readonly [string, Middleware])[] = [
    ['without a result', throwing('chat', 'before', new MiddlewareTermination('enough'))],
    [
      'with one',
      throwing('agent', 'after', new MiddlewareTermination('enough', { result: 'Ended.' })),
    ],
    ['by a guardrail', throwing('agent', 'after', new GuardrailTripped(block))],
    ['by a guardrail after a model call', throwing('chat', 'after', new GuardrailTripped(block))],
    ['of the loop', throwing('function', 'after', new MiddlewareTermination('enough'))],
  ]

  it.each(cases)('%s: the updates end with exactly the final response', async (_, middleware) => {
    const client = scriptedClient([['Let me look.', callFunction('look', { at: 1 })], 'Done.'])

    const { updates, response } = await readUpdates(
      new Agent({ client, tools: [looking()], middleware }),
    )

    expect(foldUpdates(updates).messages).toEqual(response.messages)
    expect(client.openStreams).toBe(0)
  })
})

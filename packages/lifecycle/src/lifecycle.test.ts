import type { ScriptedStep } from '@lamella/testing'
import type { AgentContext } from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { FunctionHookContext, LifecycleHooks } from './index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  jsonSchema,
  message,
  messageText,
  textOf,
  tool,
} from '@lamella/core'
import { lifecycle } from './index.ts'

const twice = [
  [callFunction('echo', { text: 'a' }, 'c1'), callFunction('echo', { text: 'b' }, 'c2')],
  'Done.',
] as const satisfies readonly ScriptedStep[]

const echo = tool({
  name: 'echo',
  description: '',
  parameters: jsonSchema({ type: 'object', properties: { text: { type: 'string' } } }),
  execute: ({ text }) => {
    if (text === 'bad') throw new Error('no such text')
    return text
  },
})

/** Hooks that write down when they are called. */
function noting(name: string, log: string[]): LifecycleHooks {
  const note =
    (moment: string) =>
    (context?: { readonly iteration?: number; readonly callId?: string }): void =>
      void log.push([name, moment, context?.callId ?? context?.iteration].join(' ').trim())
  return {
    name,
    beforeTurn: () => note('beforeTurn')(),
    afterTurn: () => note('afterTurn')(),
    afterTurnSucceeded: () => note('succeeded')(),
    beforeIteration: note('beforeIteration'),
    afterModelCall: note('afterModelCall'),
    beforeToolExecution: note('beforeTools'),
    beforeParallelBatch: note('beforeBatch'),
    beforeFunction: note('beforeFunction'),
    afterFunction: note('afterFunction'),
    afterIteration: note('afterIteration'),
    async wrapModelCall(request, handler) {
      note('model in')(request)
      const response = await handler(request)
      note('model out')(request)
      return response
    },
    async wrapFunctionCall(request, handler) {
      note('call in')(request)
      const result = await handler(request)
      note('call out')(request)
      return result
    },
  }
}

/** Hooks of which one edits the context of another while the call runs. */
function editing(edit: (context: FunctionHookContext) => void): LifecycleHooks {
  let context: FunctionHookContext | undefined
  return {
    name: 'during',
    beforeFunction: (given) => void (context = given),
    async wrapFunctionCall(request, handler) {
      edit(context!)
      return handler(request)
    },
    afterFunction: () => {},
  }
}

describe.each(runModes)('lifecycle hooks, %s', (mode) => {
  const run = (
    steps: readonly ScriptedStep[],
    hooks: readonly LifecycleHooks[],
    options: Partial<ConstructorParameters<typeof Agent>[0]> = {},
  ) => {
    const client = scriptedClient(steps)
    const middleware = hooks.map((entry) => lifecycle(entry))
    const agent = new Agent({ client, tools: [echo], middleware, ...options })
    return { client, response: runIn(mode, agent) }
  }

  it('a run that pauses has no after hooks, and when it continues each runs once', async () => {
    const log: string[] = []
    const pausing: LifecycleHooks = {
      name: 'pausing',
      async beforeFunction(context) {
        await context.run.interrupt('Sure?')
      },
    }
    const middleware = [lifecycle(noting('A', log)), lifecycle(pausing)]
    const client = scriptedClient([callFunction('echo', { text: 'a' }, 'c1'), 'Done.'])
    const agent = new Agent({ client, tools: [echo], middleware })

    const paused = await runIn(mode, agent)
    const before = log.filter((line) => line.includes('after') || line.includes('succeeded'))
    log.length = 0
    await agent.resume(paused.checkpoint!, { [paused.pending[0]!.id]: true })

    expect(before).toEqual(['A afterModelCall 0'])
    expect(log.filter((line) => line.includes('after') || line.includes('succeeded'))).toEqual([
      'A afterFunction c1',
      'A afterIteration 0',
      'A afterModelCall 1',
      'A afterIteration 1',
      'A succeeded',
      'A afterTurn',
    ])
  })

  it('a run waits for the set-up', async () => {
    const log: string[] = []
    const hooks: LifecycleHooks = {
      name: 'A',
      async setup() {
        await new Promise<void>((resolve) => void setTimeout(resolve, 1))
        log.push('set up')
      },
      beforeTurn: () => void log.push('begins'),
    }

    await run(['Hi.'], [hooks]).response

    expect(log).toEqual(['set up', 'begins'])
  })

  it('a call that is blocked has the result of the hook, or says that it was denied', async () => {
    const results: (string | undefined)[] = []
    const block = (overrideResult?: unknown): LifecycleHooks => ({
      name: 'block',
      beforeFunction(context) {
        expect(context.arguments).toEqual({ text: 'a' })
        context.blockExecution = true
        context.overrideResult = overrideResult
      },
      afterFunction({ result }) {
        results.push(textOf(result!.contents))
      },
    })
    const one = () => [callFunction('echo', { text: 'a' }, 'c1'), 'Done.']

    await run(one(), [block()]).response
    await run(one(), [block('Not today.')]).response

    expect(results).toEqual(['Permission denied.', 'Not today.'])
  })

  it.each<[string, LifecycleHooks, string]>([
    [
      'a result before the call',
      { name: 'early', beforeFunction: (context) => void (context.result = 'given') },
      'middleware "early" set `result` outside of afterFunction',
    ],
    [
      'an exception before the call',
      { name: 'early', beforeFunction: (context) => void (context.exception = 'given') },
      'middleware "early" set `exception` outside of afterFunction',
    ],
    [
      'a block after the call',
      { name: 'late', afterFunction: (context) => void (context.blockExecution = true) },
      'middleware "late" set `blockExecution` outside of beforeFunction',
    ],
    [
      'the result of a block after the call',
      { name: 'late', afterFunction: (context) => void (context.overrideResult = 'given') },
      'middleware "late" set `overrideResult` outside of beforeFunction',
    ],
    ['a block during the call', editing((context) => (context.blockExecution = true)), 'during'],
    ['a result during the call', editing((context) => (context.result = 'given')), 'during'],
  ])('a hook that sets %s fails the run by its name', async (_, hooks, problem) => {
    const running = run([callFunction('echo', { text: 'a' }, 'c1')], [hooks]).response

    await expect(running).rejects.toMatchObject({ code: 'middleware_contract' })
    await expect(running).rejects.toThrow(problem)
  })

  it('before hooks go in order, after hooks in reverse, of wraps the first is outermost', async () => {
    const log: string[] = []
    const one = [callFunction('echo', { text: 'a' }, 'c1'), 'Done.']

    await run(one, [noting('A', log), noting('B', log)]).response

    expect(log).toEqual(
      [
        ['A beforeTurn', 'B beforeTurn'],
        ['A beforeIteration 0', 'B beforeIteration 0'],
        ['A model in 0', 'B model in 0', 'B model out 0', 'A model out 0'],
        ['B afterModelCall 0', 'A afterModelCall 0'],
        ['A beforeTools 0', 'B beforeTools 0'],
        ['A beforeFunction c1', 'A call in c1', 'B beforeFunction c1', 'B call in c1'],
        ['B call out c1', 'B afterFunction c1', 'A call out c1', 'A afterFunction c1'],
        ['B afterIteration 0', 'A afterIteration 0'],
        ['A beforeIteration 1', 'B beforeIteration 1'],
        ['A model in 1', 'B model in 1', 'B model out 1', 'A model out 1'],
        ['B afterModelCall 1', 'A afterModelCall 1'],
        ['B afterIteration 1', 'A afterIteration 1'],
        ['B succeeded', 'B afterTurn', 'A succeeded', 'A afterTurn'],
      ].flat(),
    )
  })

  it('the batch hook is called once for calls side by side, and not for one call alone', async () => {
    const log: string[] = []
    const steps = [...twice.slice(0, 1), callFunction('echo', {}, 'c3'), 'Done.']

    await run(steps, [noting('A', log)]).response

    expect(log.filter((entry) => /before(Tools|Batch)/.test(entry))).toEqual([
      'A beforeTools 0',
      'A beforeBatch 0',
      'A beforeTools 1',
    ])
  })

  it('calls one at a time are no parallel batch', async () => {
    const log: string[] = []

    await run(twice, [noting('A', log)], { functionInvocation: { maxConcurrency: 1 } }).response

    expect(log).toContain('A beforeTools 0')
    expect(log).not.toContain('A beforeBatch 0')
  })

  it('a retry of the model call enters its wraps again, and no iteration hook', async () => {
    const log: string[] = []
    const retry = chatMiddleware('retry', (_, callNext) => callNext().catch(() => callNext()))
    const hooks = lifecycle(noting('A', log))
    const client = scriptedClient([new Error('down'), 'Done.'])

    await runIn(mode, new Agent({ client, middleware: [retry, hooks] }))

    expect(log.filter((entry) => entry.startsWith('A model in'))).toHaveLength(2)
    expect(log.filter((entry) => entry.startsWith('A beforeIteration'))).toHaveLength(1)
  })

  it.each<[string, (context: AgentContext) => void]>([
    [
      'call transformUpdates()',
      (context) =>
        context.transformUpdates({ transform: (update, controller) => controller.enqueue(update) }),
    ],
    [
      'set `responseFormat`',
      (context) => {
        context.options = { ...context.options, responseFormat: 'json' }
      },
    ],
    [
      'set a function as `toolChoice`',
      (context) => {
        context.options = { ...context.options, toolChoice: () => 'auto' }
      },
    ],
    [
      'set `signal`',
      (context) => {
        context.signal = new AbortController().signal
      },
    ],
  ])('beforeTurn must not %s, which a resumed run would miss', async (what, beforeTurn) => {
    const { response } = run(['Hello.'], [{ name: 'mask', beforeTurn }])

    await expect(response).rejects.toThrow(
      `lifecycle "mask": \`beforeTurn\` must not ${what}, which a resumed run would miss; use an agent middleware`,
    )
  })

  it('beforeTurn edits the input, the instructions and the tools, also which answer directly', async () => {
    const { client, response } = run(
      [callFunction('echo', { text: 'the answer' })],
      [
        {
          name: 'edit',
          beforeTurn(context) {
            context.instructions = 'Be brief.'
            context.messages = [...context.messages]
            context.run.tools.setReturnDirect('echo', true)
          },
        },
      ],
    )

    expect((await response).text).toBe('the answer')
    expect(client.requests[0]?.instructions).toBe('Be brief.')
  })

  it('what beforeTurn does to the tools of one run is gone in the next', async () => {
    const client = scriptedClient(['One.', 'Two.'])
    const hidesOnce = lifecycle({
      name: 'hide-once',
      beforeTurn({ run: { tools, id } }) {
        if (id === 'first') tools.hide('echo')
      },
    })
    const agent = new Agent({ client, tools: [echo], middleware: hidesOnce })

    await runIn(mode, agent, { runId: 'first' })
    await runIn(mode, agent, { runId: 'second' })

    expect(client.requests.map(({ options }) => options.tools?.length ?? 0)).toEqual([0, 1])
  })

  it('afterTurn edits what the session keeps', async () => {
    const client = scriptedClient(['My card is 4111.'])
    const agent = new Agent({
      client,
      middleware: lifecycle({
        name: 'redact',
        afterTurn(context) {
          context.result = { messages: [{ role: 'assistant', contents: 'Redacted.' }] } as never
        },
      }),
    })
    const session = agent.createSession()

    await runIn(mode, agent, { session })

    expect(JSON.stringify(session)).not.toContain('My card')
    expect(session.messages.at(-1)).toMatchObject({ role: 'assistant' })
  })

  it('beforeIteration replaces the messages of its round, and not the conversation', async () => {
    const { client, response } = run(twice, [
      {
        name: 'memory',
        beforeIteration(context) {
          if (context.iteration > 0) return
          context.messages = [message('user', 'Remember the rain.'), ...context.messages]
        },
      },
    ])
    await response

    const [first, second] = client.requests
    expect(first?.messages.map(messageText)[0]).toBe('Remember the rain.')
    expect(first?.messages).toHaveLength(2)
    expect(second?.messages.map(messageText)).not.toContain('Remember the rain.')
  })

  it('beforeIteration changes what the model is sent, for that round alone', async () => {
    const { client, response } = run(twice, [
      {
        name: 'memory',
        beforeIteration(context) {
          if (context.iteration > 0) return
          context.instructions = 'You know that it rains.'
          context.messages = context.messages.slice(0, 1)
          context.options = { ...context.options, temperature: 0 }
        },
      },
    ])
    await response

    const [first, second] = client.requests
    expect(first).toMatchObject({ instructions: 'You know that it rains.' })
    expect(first?.options.temperature).toBe(0)
    expect(second?.instructions).toBeUndefined()
    expect(second?.messages).toHaveLength(3)
  })

  it('beforeIteration rewrites the conversation for good', async () => {
    const { client, response } = run(twice, [
      {
        name: 'forget',
        beforeIteration: ({ run: { messages }, iteration }) =>
          iteration === 1 ? messages.rewrite((all) => all.slice(1)) : undefined,
      },
    ])
    await response

    expect(client.requests[1]?.messages.map(({ role }) => role)).toEqual(['assistant', 'tool'])
  })

  it('skipModelCall replaces the answer with a response, whose calls run', async () => {
    const { client, response } = run(
      ['Done.'],
      [
        {
          name: 'plan',
          beforeIteration(context) {
            context.skipModelCall = context.iteration === 0
            context.overrideResponse = {
              messages: [
                {
                  id: 'm1',
                  role: 'assistant',
                  contents: [callFunction('echo', { text: 'a' }, 'c1')],
                },
              ],
            }
          },
        },
      ],
    )

    const { messages, text } = await response

    expect(text).toBe('Done.')
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant'])
    expect(client.requests).toHaveLength(1)
  })

  it('skipToolExecution gives each call a result and runs none', async () => {
    const log: string[] = []
    const { client, response } = run(twice, [
      {
        name: 'breaker',
        beforeToolExecution(context) {
          context.skipToolExecution = true
          context.overrideResult = ({ callId }) => `skipped ${callId}`
        },
        beforeParallelBatch: () => void log.push('batch'),
        beforeFunction: () => void log.push('function'),
      },
    ])
    await response

    expect(log).toEqual([])
    expect(client.requests[1]?.messages.at(-1)?.contents).toMatchObject([
      { callId: 'c1', contents: [{ text: 'skipped c1' }] },
      { callId: 'c2', contents: [{ text: 'skipped c2' }] },
    ])
  })

  it('blockExecution skips the wraps and the tool of one call and no other', async () => {
    const log: string[] = []
    const { client, response } = run(twice, [
      {
        name: 'gate',
        beforeFunction(context) {
          context.blockExecution = context.callId === 'c1'
          context.overrideResult = 'Not today.'
        },
        wrapFunctionCall: (request, handler) => {
          log.push(request.callId)
          return handler(request)
        },
        afterFunction: ({ callId, result }) =>
          void log.push(`${callId}: ${result?.contents.length}`),
      },
    ])
    await response

    expect(log.toSorted()).toEqual(['c1: 1', 'c2', 'c2: 1'])
    expect(client.requests[1]?.messages.at(-1)?.contents).toMatchObject([
      { contents: [{ text: 'Not today.' }] },
      { contents: [{ text: 'b' }] },
    ])
  })

  it('requests do not change; an override goes inward', async () => {
    const { client, response } = run(
      [callFunction('echo', { text: 'a' }), 'Done.'],
      [
        {
          name: 'override',
          wrapModelCall(request, handler) {
            expect(() => Object.assign(request, { messages: [] })).toThrow(TypeError)
            return handler(request.override({ model: 'other', instructions: 'Be brief.' }))
          },
          wrapFunctionCall: (request, handler) =>
            handler(request.override({ arguments: { text: 'changed' } })),
        },
      ],
    )
    await response

    expect(client.requests[0]).toMatchObject({
      instructions: 'Be brief.',
      options: { model: 'other' },
    })
    expect(client.requests[1]?.messages.at(-1)?.contents).toMatchObject([
      { contents: [{ text: 'changed' }] },
    ])
  })

  it('wraps see updates as they pass, and may replace what they wrap', async () => {
    let characters = 0
    const { response } = run(
      [callFunction('echo', { text: 'a' }), 'Hello there.'],
      [
        {
          name: 'count',
          wrapModelCall(request, handler) {
            request.transformUpdates({
              transform(update, controller) {
                for (const content of update.contents) {
                  if (content.type === 'text') characters += content.text.length
                }
                controller.enqueue(update)
              },
            })
            return handler(request)
          },
          wrapFunctionCall: async () => 'cached',
        },
      ],
    )

    const { messages } = await response

    expect(characters).toBe('Hello there.'.length)
    expect(JSON.stringify(messages)).toContain('cached')
  })

  it('afterFunction sees what a tool threw, and may put a result in its place', async () => {
    const seen: unknown[] = []
    const steps = [callFunction('echo', { text: 'bad' }), 'Done.']
    const { client, response } = run(steps, [
      {
        name: 'format',
        afterFunction(context) {
          seen.push(context.exception, context.result)
          context.exception = undefined
          context.result = 'It did not work.'
        },
      },
    ])
    await response

    expect(seen).toEqual([new Error('no such text'), undefined])
    expect(client.requests[1]?.messages.at(-1)?.contents).toMatchObject([
      { contents: [{ text: 'It did not work.' }] },
    ])
  })

  it('afterFunction that leaves the exception alone leaves the error a result for the model', async () => {
    const steps = [callFunction('echo', { text: 'bad' }), 'Done.']
    const { response } = run(steps, [{ name: 'look', afterFunction: () => {} }])

    const { status, messages } = await response

    expect(status).toBe('completed')
    expect(messages[1]?.contents).toMatchObject([{ error: { code: 'tool_failed' } }])
  })

  it('the success hook is not called for a run that was cut off, blocked or stopped', async () => {
    const log: string[] = []
    const hooks = noting('A', log)
    const steps = [callFunction('echo', {}), 'Enough.']
    await run(steps, [hooks], { functionInvocation: { maxIterations: 1 } }).response
    await run(steps, [
      hooks,
      { name: 'stop', afterModelCall: (context) => context.run.stop('enough') },
    ]).response
    await run([new Error('down')], [hooks]).response.catch(() => {})

    expect(log).not.toContain('A succeeded')
    expect(log.filter((entry) => entry === 'A afterTurn')).toHaveLength(3)
  })

  it('what steers a run is not called an error: a termination passes, and after hooks run', async () => {
    const log: string[] = []
    const errors: unknown[] = []
    const client = scriptedClient(['Hi.'])
    const stops = agentMiddleware('stop', async ({ run: current }, callNext) => {
      current.stop('enough', { response: 'Stopped.' })
      await callNext()
    })
    const hooks = {
      ...noting('A', log),
      onError: ({ error }: { error: unknown }) => void errors.push(error),
    }

    const response = await runIn(mode, new Agent({ client, middleware: [lifecycle(hooks), stops] }))

    expect(response).toMatchObject({ status: 'terminated', text: 'Stopped.' })
    expect(errors).toEqual([])
    expect(log).toContain('A afterTurn')
  })
})

it.each<[string, LifecycleHooks, readonly string[]]>([
  ['no hook', { name: 'a' }, ['agent']],
  ['a hook of iterations', { name: 'a', beforeIteration() {} }, ['agent']],
  [
    'wrapModelCall',
    { name: 'a', wrapModelCall: (request, next) => next(request) },
    ['agent', 'chat'],
  ],
  ['afterFunction', { name: 'a', afterFunction() {} }, ['agent', 'function']],
  ['onError', { name: 'a', onError() {} }, ['agent', 'chat', 'function']],
])('%s makes middlewares of the levels it needs', (_, hooks, levels) => {
  expect(lifecycle(hooks).map(({ level }) => level)).toEqual(levels)
})

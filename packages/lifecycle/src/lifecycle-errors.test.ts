import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type {
  FunctionHookContext,
  LifecycleError,
  LifecycleFailure,
  LifecycleHooks,
} from './index.ts'
import {
  Agent,
  GuardrailTripped,
  LamellaError,
  functionMiddleware,
  jsonSchema,
  tool,
} from '@lamella/core'
import { lifecycle } from './index.ts'

const fail = (problem: string, code?: LamellaError['code']) => (): never => {
  throw code === undefined ? new Error(problem) : new LamellaError(problem, { code })
}
const broken = tool({ name: 'broken', description: '', execute: fail('tool') })

/** Hooks of which one edits a tool call after it. */
function late(): LifecycleHooks {
  let context: FunctionHookContext | undefined
  return {
    name: 'late',
    afterFunction: (given) => void (context = given),
    afterIteration: () => void (context!.result = 'given'),
  }
}

describe.each(runModes)('errors and hooks, %s', (mode) => {
  const told = async (hooks: LifecycleHooks, steps = [callFunction('broken'), 'Done.']) => {
    const failures: string[] = []
    const onError = ({ error, source, iteration }: LifecycleFailure): void => {
      failures.push(`${source} ${iteration}: ${(error as Error).message}`)
      throw new Error('onError itself')
    }
    const agent = new Agent({
      client: scriptedClient(steps),
      tools: [broken],
      middleware: lifecycle({ ...hooks, onError }),
    })
    const outcome = await runIn(mode, agent).then(
      ({ status }) => status,
      (error: Error) => error.message,
    )
    return { failures, outcome }
  }

  it.each<[string, LifecycleHooks, string, string]>([
    ['a tool', { name: 'a' }, 'tool 0: tool', 'completed'],
    ['a round', { name: 'a', beforeIteration: fail('round') }, 'iteration 0: round', 'round'],
    ['a run', { name: 'a', beforeTurn: fail('turn') }, 'turn 0: turn', 'turn'],
    ['what wraps a call', { name: 'a', wrapModelCall: fail('wrap') }, 'model 0: wrap', 'wrap'],
  ])('onError is told once, where it came up: %s', async (_, hooks, failure, outcome) => {
    expect(await told(hooks)).toEqual({ failures: [failure], outcome })
  })

  it('onError is told of nothing where nothing fails, and of each of several failures once', async () => {
    const working = tool({ name: 'broken', description: '', execute: () => 'fine' })
    const errors: unknown[] = []
    const onError = ({ error }: LifecycleFailure): void => void errors.push(error)
    const make = (given: typeof working, hooks: LifecycleHooks) =>
      new Agent({
        client: scriptedClient([callFunction('broken'), 'Done.']),
        tools: [given],
        middleware: lifecycle({ ...hooks, onError }),
      })

    await runIn(mode, make(working, { name: 'a', afterFunction: () => {} }))
    const before = [...errors]
    const running = runIn(mode, make(broken, { name: 'a', afterFunction: fail('hook') }))
    await expect(running).rejects.toMatchObject({ code: 'hook_failed' })

    expect(before).toEqual([])
    expect(errors.map((error) => (error as Error).message)).toEqual(['tool', 'hook'])
  })

  it('onError is told of a failure that afterFunction deals with', async () => {
    const deal: LifecycleHooks = {
      name: 'deal',
      afterFunction(context) {
        context.exception = undefined
        context.result = 'fine'
      },
    }

    expect(await told(deal)).toEqual({ failures: ['tool 0: tool'], outcome: 'completed' })
  })

  it.each<[string, LifecycleHooks, string]>([
    [
      'afterFunction gives another error',
      { name: 'a', afterFunction: (context) => void (context.exception = new Error('other')) },
      'other',
    ],
    [
      'afterFunction gives a result beside the error',
      { name: 'a', afterFunction: (context) => void (context.result = 'fine') },
      'set `result` while `exception` is set',
    ],
    ['a hook edits a call that is over', late(), 'set `result` outside of afterFunction'],
  ])('a run fails where %s', async (_, hooks, problem) => {
    const { failures, outcome } = await told(hooks)

    expect(outcome).not.toBe('completed')
    expect([...failures, outcome].join(', ')).toContain(problem)
  })

  it('onError alone is told where an iteration failed by the hooks of another', async () => {
    const sources: string[] = []
    const middleware = [
      lifecycle({ name: 'told', onError: ({ source }) => void sources.push(source) }),
      lifecycle({ name: 'failing', beforeIteration: fail('round') }),
    ]

    const running = runIn(mode, new Agent({ client: scriptedClient([]), middleware }))

    await expect(running).rejects.toThrow('round')
    expect(sources).toEqual(['iteration'])
  })

  it('onError is told of calls that no tool can run', async () => {
    const strict = tool({
      name: 'strict',
      description: '',
      parameters: jsonSchema({
        type: 'object',
        properties: { n: { type: 'number' } },
        required: ['n'],
      }),
      execute: () => 'ran',
    })
    const failures: LifecycleFailure[] = []
    const agent = new Agent({
      client: scriptedClient([
        callFunction('missing'),
        callFunction('strict', { n: 'x' }),
        'Done.',
      ]),
      tools: [strict],
      middleware: lifecycle({ name: 'a', onError: (failure) => void failures.push(failure) }),
    })

    const { status } = await runIn(mode, agent)

    expect(status).toBe('completed')
    expect(failures.map(({ source, iteration, error }) => [source, iteration, error])).toEqual([
      ['tool', 0, expect.objectContaining({ code: 'tool_error', reason: 'unknown_tool' })],
      ['tool', 1, expect.objectContaining({ code: 'tool_error', reason: 'invalid_arguments' })],
    ])
  })

  it('afterIteration runs after a round that failed, and gets the error', async () => {
    const errors: unknown[] = []
    const problem = new Error('down')
    const agent = new Agent({
      client: scriptedClient([problem]),
      middleware: lifecycle({
        name: 'a',
        afterIteration: (_context, error) => void errors.push(error),
      }),
    })

    await expect(runIn(mode, agent)).rejects.toThrow('down')

    expect(errors).toEqual([problem])
  })

  it('onError is told once of a failed model call, as one', async () => {
    const client = scriptedClient([new Error('down')])
    const failures: LifecycleFailure[] = []
    const hooks = { name: 'a', onError: (failure: LifecycleFailure) => void failures.push(failure) }

    await expect(runIn(mode, new Agent({ client, middleware: lifecycle(hooks) }))).rejects.toThrow(
      'down',
    )

    expect(failures.map(({ source }) => source)).toEqual(['model'])
  })

  it('several sets of hooks are each told, the innermost first', async () => {
    const log: string[] = []
    const agent = new Agent({
      client: scriptedClient([new Error('down')]),
      middleware: ['A', 'B'].map((name) =>
        lifecycle({ name, onError: ({ source }) => void log.push(`${name} ${source}`) }),
      ),
    })

    await runIn(mode, agent).catch(() => {})

    expect(log).toEqual(['B model', 'A model'])
  })

  it('every after hook runs although others fail, and no failure is lost', async () => {
    const log: string[] = []
    const after = (name: string): LifecycleHooks => ({
      name,
      afterTurn() {
        log.push(name)
        throw new Error(`after ${name}`)
      },
    })
    const agent = new Agent({
      client: scriptedClient([new Error('down')]),
      middleware: [lifecycle(after('A')), lifecycle(after('B')), lifecycle(after('C'))],
    })

    const error = await runIn(mode, agent).then(
      () => undefined,
      (reason: LifecycleError) => reason,
    )

    expect(log).toEqual(['C', 'B', 'A'])
    expect(LamellaError.is(error, 'hook_failed')).toBe(true)
    expect(error?.errors.map((part) => (part as Error).message)).toEqual([
      expect.stringContaining('down'),
      'after C',
      'after B',
      'after A',
    ])
    expect(error?.cause).toBe(error?.errors[0])
  })

  it('an after hook that fails alone fails the run with what it threw', async () => {
    const agent = new Agent({
      client: scriptedClient(['Hi.']),
      middleware: lifecycle({ name: 'a', afterIteration: fail('after') }),
    })

    await expect(runIn(mode, agent)).rejects.toThrow(/^after$/)
  })

  it.each([
    ['unknown', fail('a secret')],
    ['middleware_contract', fail('a secret', 'middleware_contract')],
  ])(
    'a failing after hook does not turn a block into a failure, and is told as %s',
    async (code, afterTurn) => {
      const events: unknown[] = []
      const block = {
        guardrail: 'g',
        level: 'agent',
        stage: 'input',
        category: 'c',
        message: 'No.',
      } as const
      const agent = new Agent({
        client: scriptedClient([]),
        middleware: [
          lifecycle({ name: 'a', afterTurn }),
          lifecycle({
            name: 'guardrail',
            beforeTurn() {
              throw new GuardrailTripped(block)
            },
          }),
        ],
      })

      const response = await runIn(mode, agent, { onEvent: (event) => events.push(event) })

      expect(response).toMatchObject({ status: 'blocked', text: 'No.' })
      expect(events).toMatchObject([{ type: 'hook_failed', data: { code } }])
      expect(JSON.stringify(events)).not.toContain('secret')
    },
  )

  it('a function middleware that fails under hooks fails the run, and is no result', async () => {
    const agent = new Agent({
      client: scriptedClient([callFunction('broken')]),
      tools: [broken],
      middleware: [
        lifecycle({
          name: 'a',
          afterFunction: () => {},
          wrapFunctionCall: (r, handler) => handler(r),
        }),
        functionMiddleware('guardrail', fail('the guardrail itself')),
      ],
    })

    await expect(runIn(mode, agent)).rejects.toThrow('the guardrail itself')
  })

  it('an abort reaches the after hooks and is not told as an error', async () => {
    const controller = new AbortController()
    const log: unknown[] = []
    const agent = new Agent({
      client: scriptedClient([{ updates: ['Hel'], hang: true }]),
      middleware: lifecycle({
        name: 'a',
        wrapModelCall(request, handler) {
          setTimeout(() => controller.abort(), 0)
          return handler(request)
        },
        afterTurn: (_, error) => void log.push(error === undefined ? 'fine' : 'aborted'),
        onError: () => void log.push('error'),
      }),
    })

    await expect(runIn(mode, agent, { signal: controller.signal })).rejects.toThrow(/abort/)

    expect(log).toEqual(['aborted'])
  })
})

describe('lifecycle', () => {
  it.each([
    [{ name: '' }, '`name`'],
    [{ name: 'a', beforeIterate: () => {} }, '`beforeIterate`'],
    [{ name: 'a', afterTurn: 'later' }, '`afterTurn`'],
  ])('names what is wrong: %o', (hooks, problem) => {
    expect(() => lifecycle(hooks as never)).toThrow(problem)
  })

  it('sets up once before the first run, again if that failed, and tears down with the agent', async () => {
    const log: string[] = []
    let isUp = false
    const agent = new Agent({
      client: scriptedClient(['One.', 'Two.']),
      middleware: lifecycle({
        name: 'pool',
        setup() {
          log.push('setup')
          if (!isUp) {
            isUp = true
            throw new Error('not yet')
          }
        },
        teardown: () => void log.push('teardown'),
      }),
    })

    await expect(agent.run('Hi')).rejects.toThrow('not yet')
    await Promise.all([agent.run('Hi'), agent.run('Hi')])
    await agent[Symbol.asyncDispose]()
    await agent[Symbol.asyncDispose]()

    expect(log).toEqual(['setup', 'setup', 'teardown'])
  })
})

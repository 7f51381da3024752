import type { RunMode } from '@lamella/testing'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type {
  AgentContext,
  ChatContext,
  ChatResponse,
  FunctionInvocationContext,
  Message,
  RunContext,
  ToolDefinition,
} from '../index.ts'
import type { BatchContext, IterationContext } from '../authoring.ts'
import type { FunctionHookContext } from '@lamella/lifecycle'
import {
  Agent,
  LamellaError,
  agentMiddleware,
  chatMiddleware,
  createSession,
  functionMiddleware,
  jsonSchema,
  message,
  tool,
} from '../index.ts'
import { lifecycle } from '@lamella/lifecycle'
import { runs } from '../../../../tests/support/runs.ts'

/** All that a piece of code may edit at one moment of a run. */
interface Reach {
  readonly run: RunContext
  readonly agent?: AgentContext
  readonly chat?: ChatContext
  readonly call?: FunctionInvocationContext
  readonly iteration?: IterationContext
  readonly batch?: BatchContext
  readonly hook?: FunctionHookContext
}

const note = message('user', 'A note.')
const echo = (name: string): ToolDefinition =>
  tool({ name, description: name, execute: ({ n }) => `${name} ${String(n)}` })
const extra = echo('extra')
const without = (tools: readonly ToolDefinition[] = [], name = 'drop'): readonly ToolDefinition[] =>
  tools.filter((one) => one.name !== name)
const elsewhere = scriptedClient(() => 'Another client.', { provider: 'elsewhere' })
const other = createSession({ messages: [message('user', 'Another session.')] })

const editsOfOptions = (
  key: 'agent' | 'chat' | 'iteration',
): Readonly<Record<string, (reach: Reach) => void>> => {
  const set =
    (change: (options: AgentContext['options']) => AgentContext['options']) =>
    (reach: Reach): void => {
      const context = reach[key]!
      context.options = change(context.options)
    }
  return {
    [`${key}.options`]: set((options) => ({ ...options, temperature: 1 })),
    [`${key}.options.tools`]: set((options) => ({ ...options, tools: without(options.tools) })),
    [`${key}.options.tools, one more`]: set((options) => ({
      ...options,
      tools: [...(options.tools ?? []), extra],
    })),
    [`${key}.options.toolChoice`]: set((options) => ({ ...options, toolChoice: 'required' })),
    [`${key}.options.user`]: set((options) => ({ ...options, user: 'own' })),
    [`${key}.options, in place`]: (reach: Reach): void => {
      Object.assign(reach[key]!.options, { temperature: 1 })
    },
    [`${key}.options.tools, in place`]: (reach: Reach): void => {
      ;(reach[key]!.options.tools as ToolDefinition[]).pop()
    },
    [`${key}.messages, in place`]: (reach: Reach): void => {
      ;(reach[key]!.messages as Message[]).push(note)
    },
    [`${key}.messages`]: (reach: Reach): void => {
      reach[key]!.messages = [...reach[key]!.messages, note]
    },
    [`${key}.instructions`]: (reach: Reach): void => {
      reach[key]!.instructions = 'Be brief.'
    },
  }
}

/** Edits in place of a response, which there is only after the inside has run. */
const editsOfResponse = (
  name: string,
  of: (reach: Reach) => ChatResponse | undefined,
): Readonly<Record<string, (reach: Reach) => void>> => ({
  [`${name}, in place`]: (reach) => {
    Object.assign(of(reach)!, { text: 'Another text.' })
  },
  [`${name}.messages, in place`]: (reach) => void (of(reach)!.messages as Message[]).push(note),
  [`${name}.functionCalls, in place`]: (reach) =>
    void (of(reach)!.functionCalls as unknown[]).pop(),
})

const edits: Readonly<Record<string, (reach: Reach) => void>> = {
  'run.tools.add': ({ run }) => run.tools.add(extra),
  'run.tools.remove': ({ run }) => run.tools.remove('drop'),
  'run.tools.hide': ({ run }) => run.tools.hide('drop'),
  'run.tools.defer': ({ run }) => run.tools.defer('drop'),
  'run.tools.show': ({ run }) => run.tools.show('hidden'),
  'run.tools.setReturnDirect': ({ run }) => run.tools.setReturnDirect('look', true),
  'run.messages.rewrite': ({ run }) =>
    run.messages.rewrite((all) => [...all.slice(0, 1), note, ...all.slice(1)]),
  'run.messages.rewrite, all but one': ({ run }) => run.messages.rewrite((all) => all.slice(0, 1)),
  'run.messages.all, in place': ({ run }) => void (run.messages.all as Message[]).push(note),
  'run.tools.executable, in place': ({ run }) =>
    void (run.tools.executable as ToolDefinition[]).pop(),
  'run.tools.visible, in place': ({ run }) => void (run.tools.visible as ToolDefinition[]).pop(),
  'run.tools.deferred, in place': ({ run }) =>
    void (run.tools.deferred as ToolDefinition[]).push(extra),
  'run.attempts, in place': ({ run }) => void (run.attempts as unknown[]).push({}),
  'run.stop': ({ run }) => run.stop('enough', { response: 'Stopped.' }),
  'run.allowIterations': ({ run }) => run.allowIterations(1),
  ...editsOfOptions('agent'),
  'agent.tools': ({ agent }) => {
    agent!.tools = without(agent!.tools)
  },
  'agent.session': ({ agent }) => {
    agent!.session = other
  },
  'agent.result': ({ agent }) => {
    agent!.result = 'An own answer.'
  },
  ...editsOfResponse('agent.result', ({ agent }) => agent!.result),
  'agent.tools, in place': ({ agent }) => void (agent!.tools as ToolDefinition[]).pop(),
  'agent.transformUpdates': ({ agent }) => agent!.transformUpdates({ transform() {} }),
  ...editsOfOptions('chat'),
  'chat.client': ({ chat }) => {
    chat!.client = elsewhere
  },
  'chat.result': ({ chat }) => {
    chat!.result = 'An own answer.'
  },
  ...editsOfResponse('chat.result', ({ chat }) => chat!.result),
  'chat.transformUpdates': ({ chat }) => chat!.transformUpdates({ transform() {} }),
  'call.arguments': ({ call }) => {
    call!.arguments = { n: 2 }
  },
  'call.arguments, in place': ({ call }) => {
    Object.assign(call!.arguments, { n: 2 })
  },
  'call.data': ({ call }) => {
    call!.data = 'other data'
  },
  'call.result': ({ call }) => {
    call!.result = 'an own result'
  },
  'call.result, in place': ({ call }) => {
    Object.assign(call!.result!, { contents: [] })
  },
  'call.transformProgress': ({ call }) => call!.transformProgress(() => 'changed'),
  'call.addTools': ({ call }) => call!.addTools(extra),
  'call.removeTools': ({ call }) => call!.removeTools('drop'),
  ...editsOfOptions('iteration'),
  'iteration.skipModelCall': ({ iteration }) => {
    iteration!.skipModelCall = true
  },
  'iteration.overrideResponse': ({ iteration }) => {
    Object.assign(iteration!, { skipModelCall: true, overrideResponse: 'An own answer.' })
  },
  ...editsOfResponse('iteration.response', ({ iteration }) => iteration!.response),
  'iteration.toolResults': ({ iteration }) => {
    Object.assign(iteration!, { toolResults: [] })
  },
  'iteration.toolResults, in place': ({ iteration }) =>
    void (iteration!.toolResults as unknown[]).pop(),
  'iteration.response': ({ iteration }) => {
    Object.assign(iteration!, { response: undefined })
  },
  'batch.skipToolExecution': ({ batch }) => {
    batch!.skipToolExecution = true
  },
  'batch.overrideResult': ({ batch }) => {
    Object.assign(batch!, { overrideResult: () => 'an own result', skipToolExecution: true })
  },
  'batch.calls': ({ batch }) => {
    Object.assign(batch!, { calls: [] })
  },
  'batch.results, in place': ({ batch }) => void (batch!.results as unknown[]).pop(),
  'batch.calls, in place': ({ batch }) => {
    ;(batch!.calls as unknown[]).pop()
  },
  'hook.blockExecution': ({ hook }) => {
    hook!.blockExecution = true
  },
  'hook.overrideResult': ({ hook }) => {
    Object.assign(hook!, { overrideResult: 'an own result', blockExecution: true })
  },
  'hook.result': ({ hook }) => {
    hook!.result = 'an own result'
  },
  'hook.result, in place': ({ hook }) => {
    Object.assign(hook!.result!, { contents: [] })
  },
  'hook.exception': ({ hook }) => {
    hook!.exception = new LamellaError('an own error', { code: 'middleware_contract' })
  },
  'hook.arguments': ({ hook }) => {
    Object.assign(hook!, { arguments: { n: 2 } })
  },
}

const moments: Readonly<Record<string, readonly (keyof Reach)[]>> = {
  beforeTurn: ['agent'],
  'agent middleware': ['agent'],
  'agent middleware, after': ['agent'],
  'agent transform': ['agent'],
  afterTurn: ['agent'],
  afterTurnSucceeded: ['agent'],
  beforeIteration: ['iteration'],
  'chat middleware': ['chat'],
  'chat middleware, after': ['chat'],
  'chat transform': ['chat'],
  wrapModelCall: [],
  'wrapModelCall, after': [],
  afterModelCall: ['iteration'],
  beforeToolExecution: ['batch'],
  beforeParallelBatch: ['batch'],
  beforeFunction: ['hook'],
  wrapFunctionCall: [],
  'wrapFunctionCall, after': [],
  'function middleware': ['call'],
  'function middleware, after': ['call'],
  tool: ['call'],
  afterFunction: ['hook'],
  afterIteration: ['iteration'],
  'after the run': ['agent', 'chat', 'call', 'iteration', 'batch', 'hook'],
}

/** Assigned before `callNext()`, a result is replaced by what the inside produces, as it says. */
const inOrder = /^(agent|chat|call)\.result$/
const beforeTheInside = new Set([
  'beforeTurn',
  'agent middleware',
  'chat middleware',
  'function middleware',
])

/** Shape of a run. */
interface World {
  readonly mode: RunMode
  /** The loop ends by its limit, and not by an answer. */
  readonly limited: boolean
  /** Another middleware runs the inside a second time. */
  readonly again: boolean
  readonly parallel: boolean
}

type Place = readonly [moment: string, edit: string]

const fits = ([moment, edit]: Place, { limited, parallel, again }: World): boolean => {
  const [key] = edit.split('.')
  if (key !== 'run' && !moments[moment]!.includes(key as keyof Reach)) return false
  if (inOrder.test(edit) && beforeTheInside.has(moment)) return false
  if (edit === 'run.allowIterations' && !limited) return false
  if (moment === 'afterTurnSucceeded' && limited) return false
  if (moment === 'beforeParallelBatch' && !parallel) return false
  // The second time, the run begins from the first edit, or the answer of the first time is gone.
  return !again || !/turn|after the run|agent/i.test(moment)
}

async function play({ mode, limited, again, parallel }: World, place?: Place): Promise<unknown> {
  const [moment, edit] = place ?? []
  const kept: { -readonly [Key in keyof Reach]?: Reach[Key] } = {}
  let isDone = false
  const at = (now: string, reach: Reach): void => {
    Object.assign(kept, reach)
    if (now !== moment || isDone) return
    isDone = true
    edits[edit!]!(reach)
  }
  const ran: unknown[] = []
  const make = (name: string): ToolDefinition =>
    tool({
      name,
      description: name,
      parameters: jsonSchema({ type: 'object', properties: { n: { type: 'number' } } }),
      async *execute(args, call) {
        at('tool', { run: call.run, call })
        ran.push([name, args, call.data])
        yield `${name} works`
        return name === 'look' || !isDone || moment !== 'tool' ? `${name} ran` : undefined
      },
    })
  const requests: unknown[] = []
  const client = scriptedClient(({ messages, instructions, options }) => {
    const { tools = [], ...rest } = options
    requests.push({
      messages: plain(messages),
      instructions,
      ...rest,
      tools: tools.map(({ name }) => name),
    })
    const rounds = messages.filter(({ role }) => role === 'tool').length
    if (tools.length === 0 || rest.toolChoice === 'none' || (rounds > 1 && !limited)) return 'Done.'
    return tools.map(({ name }) => callFunction(name, { n: 1 }, `${name} ${requests.length}`))
  })
  const agent = new Agent({
    client,
    tools: [make('drop'), make('look')],
    instructions: 'Be kind.',
    functionInvocation: {
      maxIterations: limited ? 2 : 9,
      maxConcurrency: parallel ? 2 : 1,
      additionalTools: [echo('hidden')],
    },
    middleware: [
      agentMiddleware('twice', async (_, callNext) => {
        await callNext()
        if (again) await callNext()
      }),
      lifecycle({
        name: 'hooks',
        beforeTurn: (context) => at('beforeTurn', { run: context.run, agent: context }),
        afterTurn: (context) => at('afterTurn', { run: context.run, agent: context }),
        afterTurnSucceeded: (context) =>
          at('afterTurnSucceeded', { run: context.run, agent: context }),
        beforeIteration: (iteration) => at('beforeIteration', { run: iteration.run, iteration }),
        async wrapModelCall(request, handler) {
          at('wrapModelCall', { run: request.run })
          const response = await handler(request)
          at('wrapModelCall, after', { run: request.run })
          return response
        },
        afterModelCall: (iteration) => at('afterModelCall', { run: iteration.run, iteration }),
        beforeToolExecution: (batch) => at('beforeToolExecution', { run: batch.run, batch }),
        beforeParallelBatch: (batch) => at('beforeParallelBatch', { run: batch.run, batch }),
        beforeFunction: (hook) => at('beforeFunction', { run: hook.run, hook }),
        async wrapFunctionCall(request, handler) {
          at('wrapFunctionCall', { run: request.run })
          const result = await handler(request)
          at('wrapFunctionCall, after', { run: request.run })
          return result
        },
        afterFunction: (hook) => at('afterFunction', { run: hook.run, hook }),
        afterIteration: (iteration) => at('afterIteration', { run: iteration.run, iteration }),
      }),
      agentMiddleware('agent', async (context, callNext) => {
        const reach = { run: context.run, agent: context }
        context.transformUpdates({
          transform(update, controller) {
            at('agent transform', reach)
            controller.enqueue(update)
          },
        })
        at('agent middleware', reach)
        await callNext()
        at('agent middleware, after', reach)
      }),
      chatMiddleware('chat', async (context, callNext) => {
        const reach = { run: context.run, chat: context }
        context.transformUpdates({
          transform(update, controller) {
            at('chat transform', reach)
            controller.enqueue(update)
          },
        })
        at('chat middleware', reach)
        await callNext()
        at('chat middleware, after', reach)
      }),
      functionMiddleware('function', async (context, callNext) => {
        const reach = { run: context.run, call: context }
        at('function middleware', reach)
        await callNext()
        at('function middleware, after', reach)
      }),
    ],
  })
  const session = createSession({
    messages: [message('user', 'One.'), message('assistant', 'Two.')],
  })
  const events: unknown[] = []
  other.messages = other.messages.slice(0, 1)
  const response = await runIn(mode, agent, {
    session,
    data: 'data',
    onEvent: ({ type, data }) => events.push([type, data]),
  })
  at('after the run', kept as Reach)
  const { status, reason, text, messages, conversationId } = response
  return {
    requests,
    ran,
    events,
    sessions: [plain(session.messages), plain(other.messages)],
    response: { status, reason, text, conversationId, messages: plain(messages) },
  }
}

function plain(messages: readonly Message[]): unknown {
  return messages.map(({ role, contents }) => ({ role, contents }))
}

const unedited = new Map<string, string>()

/** Says how an edit ended that had no effect and did not throw. */
async function effectOrError(world: World, place: Place): Promise<string[]> {
  const key = JSON.stringify(world)
  const before = unedited.get(key) ?? JSON.stringify(await play(world))
  unedited.set(key, before)
  const after = await play(world, place).then(JSON.stringify, (error: unknown) => {
    const isRefused = error instanceof TypeError || LamellaError.is(error, 'middleware_contract')
    return isRefused ? 'refused' : `failed: ${String(error)}`
  })
  const isFine = after !== before && !after.startsWith('failed')
  return isFine ? [] : [`${place.join(': ')} ${after === before ? 'was ignored' : after}`]
}

const places = Object.keys(moments).flatMap((moment) =>
  Object.keys(edits).map((edit): Place => [moment, edit]),
)

describe('an edit counts, or it throws', () => {
  it.each(runModes)('of every kind at every moment, %s', async (mode) => {
    const world = { mode, limited: false, again: false, parallel: true }
    const limited = { ...world, limited: true }
    const ignored: string[] = []

    for (const place of places) {
      for (const one of place[1] === 'run.allowIterations' ? [limited] : [world]) {
        if (!fits(place, one)) continue
        ignored.push(...(await effectOrError(one, place)))
      }
    }

    expect(ignored).toEqual([])
  })

  it('in runs of every shape', async () => {
    const worlds = fc.record({
      mode: fc.constantFrom(...runModes),
      limited: fc.boolean(),
      again: fc.boolean(),
      parallel: fc.boolean(),
    })
    const cases = fc
      .tuple(worlds, fc.constantFrom(...places))
      .filter(([world, place]) => fits(place, world))

    await fc.assert(
      fc.asyncProperty(cases, async ([world, place]) => {
        expect(await effectOrError(world, place)).toEqual([])
      }),
      { numRuns: runs(200) },
    )
  })
})

import type { OptionRules } from '@lamella/core/authoring'
import { checkOptions, interceptLoop } from '@lamella/core/authoring'
import type {
  AgentContext,
  AgentMiddleware,
  ChatContext,
  ChatMiddleware,
  FunctionMiddleware,
} from '@lamella/core'
import { ToolError } from '@lamella/core'
import { collecting, failuresOf } from './failures.ts'
import { FunctionHookView } from './function-hook-view.ts'
import type { LifecycleHooks } from './hooks.ts'
import { functionRequest, modelRequest } from './requests.ts'

/** The middleware of a set of hooks. Goes into a `middleware` list as one entry. */
export type Lifecycle = readonly (AgentMiddleware | ChatMiddleware | FunctionMiddleware)[]

/**
 * Makes middleware from hooks. `before…` hooks run in the order of registration, `after…` hooks
 * and `onError` in reverse order, and the first registered `wrap…` hook is outermost.
 * @throws TypeError that names the option
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { lifecycle } from '@lamella/lifecycle'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const log = lifecycle({
 *   name: 'log',
 *   afterTurn: ({ result }) => console.log(result?.status), // completed
 * })
 * await new Agent({ client: scriptedClient(['Hello.']), middleware: [log] }).run('Hi')
 * ```
 */
export function lifecycle(hooks: LifecycleHooks): Lifecycle {
  checkOptions('lifecycle', hooks, rules)
  const middlewares: (AgentMiddleware | ChatMiddleware | FunctionMiddleware)[] = [
    turnMiddleware(hooks),
  ]
  if (hooks.wrapModelCall || hooks.onError) middlewares.push(modelMiddleware(hooks))
  const { beforeFunction, wrapFunctionCall, afterFunction, onError } = hooks
  if (beforeFunction || wrapFunctionCall || afterFunction || onError) {
    middlewares.push(functionHooksMiddleware(hooks))
  }
  return middlewares
}

function turnMiddleware(hooks: LifecycleHooks): AgentMiddleware & Partial<AsyncDisposable> {
  const { name, beforeTurn, afterTurn, afterTurnSucceeded, setup, teardown } = hooks
  let ready: Promise<void> | undefined
  return {
    level: 'agent',
    name,
    async process(context, callNext) {
      const { run } = context
      if (setup) {
        // A set-up that failed is tried again by the next run.
        ready ??= Promise.resolve(setup()).catch((error: unknown) => {
          ready = undefined
          throw error
        })
        await ready
      }
      const failures = failuresOf(hooks, run)
      await failures.told('turn', () =>
        collecting(
          run,
          async () => {
            if (beforeTurn && !context.resumed) await onceOnly(name, context, beforeTurn)
            interceptRounds(hooks, context)
            await callNext()
          },
          async (error) => {
            const status = error === undefined ? context.result?.status : undefined
            if (status === 'paused') return
            if (status === 'completed') await afterTurnSucceeded?.(context)
            await afterTurn?.(context, error)
          },
        ),
      )
    },
    ...(teardown && {
      [Symbol.asyncDispose]: async () => {
        if (ready === undefined) return
        ready = undefined
        await teardown()
      },
    }),
  }
}

/** Runs `beforeTurn`. It may not set what no checkpoint records: it would be gone after a pause, without a word. */
async function onceOnly(
  name: string,
  context: AgentContext,
  beforeTurn: NonNullable<LifecycleHooks['beforeTurn']>,
): Promise<void> {
  const refuse = (what: string): never => {
    throw new TypeError(
      `lifecycle "${name}": \`beforeTurn\` must not ${what}, which a resumed run would miss; use an agent middleware`,
    )
  }
  const value = (): never => refuse('call transformUpdates()')
  Object.defineProperty(context, 'transformUpdates', { value, configurable: true })
  const { options, signal } = context
  try {
    await beforeTurn(context)
  } finally {
    Reflect.deleteProperty(context, 'transformUpdates')
  }
  const { responseFormat, toolChoice } = context.options
  if (responseFormat !== undefined && responseFormat !== options.responseFormat)
    refuse('set `responseFormat`')
  if (toolChoice !== options.toolChoice && typeof toolChoice === 'function')
    refuse('set a function as `toolChoice`')
  if (context.signal !== signal) refuse('set `signal`')
}

/** Hooks of the loop's inner levels. */
function interceptRounds(hooks: LifecycleHooks, { run }: AgentContext): void {
  const { name, beforeIteration, afterModelCall, afterIteration } = hooks
  const { beforeToolExecution, beforeParallelBatch, onError } = hooks
  const isIteration = beforeIteration ?? afterIteration ?? onError
  const isBatch = beforeToolExecution ?? beforeParallelBatch ?? onError
  if (!(isIteration ?? isBatch ?? afterModelCall)) return
  const failures = failuresOf(hooks, run)
  interceptLoop(run, {
    name,
    response: afterModelCall,
    iteration:
      isIteration &&
      ((context, next) =>
        failures.told('iteration', () =>
          collecting(
            run,
            async () => {
              if (!context.resumed) await beforeIteration?.(context)
              await next()
            },
            async (error) => afterIteration?.(context, error),
          ),
        )),
    batch:
      isBatch &&
      (async (context, next) => {
        await beforeToolExecution?.(context)
        if (context.parallel && !context.skipToolExecution) await beforeParallelBatch?.(context)
        await next()
        // No function middleware sees these calls, since there is nothing to run.
        for (const { error } of context.results ?? []) {
          if (error?.code !== 'unknown_tool' && error?.code !== 'invalid_arguments') continue
          await failures.tell(new ToolError(error.message, { reason: error.code }), 'tool')
        }
      }),
  })
}

function modelMiddleware(hooks: LifecycleHooks): ChatMiddleware {
  const { name, wrapModelCall } = hooks
  return {
    level: 'chat',
    name,
    process: (context: ChatContext, callNext) =>
      failuresOf(hooks, context.run).told('model', async () => {
        if (wrapModelCall === undefined) return void (await callNext())
        context.result = await wrapModelCall(modelRequest(context), (request) => {
          const { messages, instructions, options } = request
          Object.assign(context, { messages, instructions, options })
          return callNext()
        })
      }),
  }
}

function functionHooksMiddleware(hooks: LifecycleHooks): FunctionMiddleware {
  const { name, beforeFunction, wrapFunctionCall, afterFunction } = hooks
  return {
    level: 'function',
    name,
    async process(context, callNext) {
      const { run } = context
      const failures = failuresOf(hooks, run)
      const about = new FunctionHookView(context, name)
      const execute = async (): Promise<void> => {
        if (about.blockExecution) {
          context.result = about.overrideResult ?? 'Permission denied.'
          return
        }
        if (wrapFunctionCall === undefined) return void (await callNext())
        context.result = await wrapFunctionCall(functionRequest(context), (request) => {
          context.arguments = request.arguments
          return callNext()
        })
      }
      await failures.told('tool', async () => {
        await beforeFunction?.(about)
        about.seal()
        if (afterFunction === undefined) return execute()
        let dealtWith = false
        const after = async (error: unknown): Promise<void> => {
          const { result } = context
          about.finish(result, error)
          await failures.tell(error, 'tool')
          await afterFunction(about)
          about.seal()
          if (about.exception !== undefined && about.exception !== error) throw about.exception
          dealtWith = error !== undefined && about.exception === undefined
          if (about.result === result) return
          if (about.exception !== undefined) throw about.misuse('`result` while `exception` is set')
          context.result = about.result
        }
        await collecting(run, execute, after).catch((error: unknown) => {
          if (!dealtWith) throw error
        })
      })
    },
  }
}

const rules: OptionRules<LifecycleHooks> = {
  name: 'string',
  setup: 'function?',
  teardown: 'function?',
  beforeTurn: 'function?',
  afterTurn: 'function?',
  afterTurnSucceeded: 'function?',
  beforeIteration: 'function?',
  wrapModelCall: 'function?',
  afterModelCall: 'function?',
  beforeToolExecution: 'function?',
  beforeParallelBatch: 'function?',
  beforeFunction: 'function?',
  wrapFunctionCall: 'function?',
  afterFunction: 'function?',
  afterIteration: 'function?',
  onError: 'function?',
}

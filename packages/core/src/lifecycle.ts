import type { AgentContext } from './agent-context.ts'
import type { ChatContext } from './chat-context.ts'
import type { OptionRules } from './check-options.ts'
import { checkOptions } from './check-options.ts'
import type { FunctionInvocationContext } from './function-context.ts'
import type { FunctionHookContext, LifecycleHooks } from './lifecycle-hooks.ts'
import { collecting, failuresOf } from './lifecycle-failures.ts'
import { interceptLoop } from './loop-seams.ts'
import type { AgentMiddleware, ChatMiddleware, FunctionMiddleware } from './middleware.ts'
import { functionRequest, modelRequest } from './wrapped-request.ts'

/** The layers of a set of hooks. Goes into a `middleware` list as one entry. */
export type Lifecycle = readonly (AgentMiddleware | ChatMiddleware | FunctionMiddleware)[]

/**
 * Makes layers of hooks, for who thinks in moments. `before…` hooks run in the order of registration,
 * `after…` hooks and `onError` in reverse, and of `wrap…` hooks the first one registered is outermost.
 * @throws TypeError that names the option
 */
export function lifecycle(hooks: LifecycleHooks): Lifecycle {
  checkOptions('lifecycle', hooks, rules)
  const layers: (AgentMiddleware | ChatMiddleware | FunctionMiddleware)[] = [turnLayer(hooks)]
  if (hooks.wrapModelCall || hooks.onError) layers.push(modelLayer(hooks))
  const { beforeFunction, wrapFunctionCall, afterFunction, onError } = hooks
  if (beforeFunction || wrapFunctionCall || afterFunction || onError) {
    layers.push(functionHooksLayer(hooks))
  }
  return layers
}

function turnLayer(hooks: LifecycleHooks): AgentMiddleware & Partial<AsyncDisposable> {
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
            await beforeTurn?.(context)
            interceptRounds(hooks, context)
            await callNext()
          },
          async (error) => {
            if (error === undefined && context.result?.status === 'completed') {
              await afterTurnSucceeded?.(context)
            }
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

/** Hooks of the loop's inner seams. */
function interceptRounds(hooks: LifecycleHooks, { run }: AgentContext): void {
  const { name, beforeIteration, afterModelCall, afterIteration } = hooks
  const { beforeToolExecution, beforeParallelBatch, onError } = hooks
  const isIteration = beforeIteration ?? afterIteration ?? onError
  const isBatch = beforeToolExecution ?? beforeParallelBatch
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
      }),
  })
}

function modelLayer(hooks: LifecycleHooks): ChatMiddleware {
  const { name, wrapModelCall } = hooks
  return {
    level: 'chat',
    name,
    process: (context: ChatContext, callNext) =>
      failuresOf(hooks, context.run).told('model', async () => {
        if (wrapModelCall === undefined) return void (await callNext())
        const response = await wrapModelCall(modelRequest(context), (request) => {
          const { messages, instructions, options } = request
          Object.assign(context, { messages, instructions, options })
          return callNext()
        })
        if (response !== context.result) context.result = response
      }),
  }
}

function functionHooksLayer(hooks: LifecycleHooks): FunctionMiddleware {
  const { name, beforeFunction, wrapFunctionCall, afterFunction } = hooks
  return {
    level: 'function',
    name,
    async process(context, callNext) {
      const { run } = context
      const failures = failuresOf(hooks, run)
      const about = hookContext(context)
      const execute = async (): Promise<void> => {
        if (about.blockExecution) {
          context.result = about.overrideResult ?? 'Permission denied.'
          return
        }
        if (wrapFunctionCall === undefined) return void (await callNext())
        const result = await wrapFunctionCall(functionRequest(context), (request) => {
          context.arguments = request.arguments
          return callNext()
        })
        if (result !== context.result) context.result = result
      }
      await failures.told('tool', async () => {
        await beforeFunction?.(about)
        if (afterFunction === undefined) return execute()
        let dealtWith = false
        const after = async (error: unknown): Promise<void> => {
          const { result } = Object.assign(about, { result: context.result, exception: error })
          await failures.tell(error, 'tool')
          await afterFunction(about)
          dealtWith = error !== undefined && about.exception === undefined
          if (about.result !== result) context.result = about.result
        }
        await collecting(run, execute, after).catch((error: unknown) => {
          if (!dealtWith) throw error
        })
      })
    },
  }
}

function hookContext(context: FunctionInvocationContext): FunctionHookContext {
  const { run, function: tool, callId, session, metadata, signal } = context
  return {
    run,
    function: tool,
    callId,
    session,
    metadata,
    signal,
    arguments: context.arguments,
    blockExecution: false,
    overrideResult: undefined,
    result: undefined,
    exception: undefined,
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

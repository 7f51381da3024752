import { checkValue } from '../base/check-options.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import type { AgentContext, AgentMiddleware } from './agent.ts'
import type { ChatContext, ChatMiddleware } from './chat.ts'
import type { AgentResponse } from './outcome.ts'
import type { CallNext, FunctionInvocationContext, FunctionMiddleware } from './run.ts'

/** Taken from a method, so that a function for a narrower context fits as it does in an object. */
type Process<Context, Result, Return> = {
  process(context: Context, callNext: CallNext<Result>): Return
}['process']

/** The same for a client, which has no runs of its own. */
export type ClientMiddlewareInput =
  | ChatMiddleware
  | FunctionMiddleware
  | readonly ClientMiddlewareInput[]

/**
 * Makes a middleware around a whole run from a function. `Data` is the type of the run's `data`, which
 * must have been passed as such.
 *
 * @example
 * ```ts
 * import { agentMiddleware } from '@lamella/core'
 *
 * const timing = agentMiddleware('timing', async (context, callNext) => {
 *   const start = performance.now()
 *   await callNext()
 *   console.log(context.run.id, performance.now() - start)
 * })
 * console.log(timing.level) // agent
 * ```
 */
export function agentMiddleware<Data = unknown>(
  name: string,
  process: Process<AgentContext<Data>, AgentResponse, ReturnType<AgentMiddleware['process']>>,
): AgentMiddleware {
  return define('agent', name, process)
}

/**
 * Makes a middleware around every model call from a function.
 *
 * @example
 * ```ts
 * import { chatMiddleware } from '@lamella/core'
 *
 * const logUsage = chatMiddleware('log-usage', async (context, callNext) => {
 *   const { usage } = await callNext()
 *   console.log(context.iteration, usage.totalTokens)
 * })
 * console.log(logUsage.level) // chat
 * ```
 */
export function chatMiddleware<Data = unknown>(
  name: string,
  process: Process<ChatContext<Data>, ChatResponse, ReturnType<ChatMiddleware['process']>>,
): ChatMiddleware {
  return define('chat', name, process)
}

/**
 * Makes a middleware around every tool call from a function.
 *
 * @example
 * ```ts
 * import { functionMiddleware } from '@lamella/core'
 *
 * const logCalls = functionMiddleware('log-calls', async (context, callNext) => {
 *   const { error } = await callNext()
 *   console.log(context.function.name, error?.code ?? 'ok')
 * })
 * console.log(logCalls.level) // function
 * ```
 */
export function functionMiddleware<Data = unknown>(
  name: string,
  process: Process<FunctionInvocationContext<Data>, FunctionResult, unknown>,
): FunctionMiddleware {
  return define('function', name, process)
}

/** @throws TypeError that names the argument */
function define<Level extends string, Function>(
  level: Level,
  name: string,
  process: Function,
): { readonly level: Level; readonly name: string; readonly process: Function } {
  checkValue(typeof name === 'string', `${level}Middleware: \`name\``, 'be a string', name)
  const isRun = typeof process === 'function'
  checkValue(isRun, `${level}Middleware: \`process\``, 'be a function', process)
  return { level, name, process }
}

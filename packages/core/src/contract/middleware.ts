import type { AgentMiddleware } from './agent.ts'
import type { ChatMiddleware } from './chat.ts'
import type { FunctionMiddleware } from './run.ts'

/** The same for a client, which has no runs of its own. */
export type ClientMiddlewareInput =
  | ChatMiddleware
  | FunctionMiddleware
  | readonly ClientMiddlewareInput[]

/**
 * Makes a middleware around a whole run from a function.
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
export function agentMiddleware(
  name: string,
  process: AgentMiddleware['process'],
): AgentMiddleware {
  return { level: 'agent', name, process }
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
export function chatMiddleware(name: string, process: ChatMiddleware['process']): ChatMiddleware {
  return { level: 'chat', name, process }
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
export function functionMiddleware(
  name: string,
  process: FunctionMiddleware['process'],
): FunctionMiddleware {
  return { level: 'function', name, process }
}

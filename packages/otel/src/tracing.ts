import type { AgentMiddleware, ChatMiddleware, FunctionMiddleware, Middleware } from '@lamella/core'
import {
  defineAgentMiddleware,
  defineChatMiddleware,
  defineFunctionMiddleware,
} from '@lamella/core/authoring'
import { agentPart } from './parts/agent-part.ts'
import { chatPart } from './parts/chat-part.ts'
import { functionPart } from './parts/function-part.ts'
import { Telemetry } from './telemetry/telemetry.ts'
import type { TracedContext, TracingOptions } from './base/tracing-options.ts'
import { checkTracingOptions } from './base/tracing-options.ts'

/** The middleware of a `tracing()` of this level. */
export type TracingMiddleware<Level extends 'agent' | 'chat'> =
  | ChatMiddleware
  | FunctionMiddleware
  | ('agent' extends Level ? AgentMiddleware : never)

/**
 * Writes spans and metrics of runs, model calls and tool calls by the GenAI semantic conventions of
 * OpenTelemetry, or debug lines if OpenTelemetry is not installed. It does not change a run, even
 * if telemetry fails.
 * @throws TypeError or RangeError that names the option and the value
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { tracing } from '@lamella/otel'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const client = scriptedClient(['Hello.'])
 * const agent = new Agent({ name: 'helper', client, middleware: tracing() })
 * await agent.run('Hi')
 * ```
 */
export function tracing<Level extends 'agent' | 'chat' = 'agent'>(
  options: TracingOptions & { readonly level?: Level | undefined } = {},
): readonly TracingMiddleware<Level>[] {
  checkTracingOptions(options)
  if (options.mode === 'off') return []
  const telemetry = new Telemetry(options)
  void telemetry.ready()
  const { name } = options
  const middlewares: Middleware[] = []
  middlewares.push(
    defineChatMiddleware('tracing', { name }, gated(telemetry, chatPart(telemetry, middlewares))),
    defineFunctionMiddleware('tracing', { name }, gated(telemetry, functionPart(telemetry))),
  )
  if (options.level !== 'chat')
    middlewares.unshift(
      defineAgentMiddleware('tracing', { name }, gated(telemetry, agentPart(telemetry))),
    )
  return middlewares as TracingMiddleware<Level>[]
}

/**
 * Keeps `when`, which here may neither fail a run nor, unless it is async, change when anything
 * happens in it.
 */
function gated<Context extends TracedContext, Result, Return>(
  telemetry: Telemetry,
  process: (context: Context, callNext: () => Promise<Result>) => Return,
): (
  context: Context,
  callNext: () => Promise<Result>,
) => Return | Promise<Result | Awaited<Return>> {
  const { when } = telemetry.options
  if (when === undefined) return process
  return (context, callNext) => {
    let says: boolean | Promise<boolean> = false
    telemetry.safely(() => {
      says = when(context)
    })
    if (typeof says === 'boolean') return says ? process(context, callNext) : callNext()
    const failed = (error: unknown): boolean => {
      telemetry.failed(error)
      return false
    }
    return Promise.resolve(says)
      .catch(failed)
      .then(
        async (isWanted): Promise<Result | Awaited<Return>> =>
          isWanted ? await process(context, callNext) : callNext(),
      )
  }
}

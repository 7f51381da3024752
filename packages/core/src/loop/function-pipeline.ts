import { LamellaError } from '../base/lamella-error.ts'
import type {
  FunctionInvocationContext,
  FunctionMiddleware,
  RunContext,
  Tool,
} from '../contract/run.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import { FunctionCall } from '../pipeline/function-call.ts'
import type { Nested } from '../pipeline/sort-middleware.ts'
import { sortMiddlewares } from '../pipeline/sort-middleware.ts'
import { composeToolCall } from '../pipeline/tool-call.ts'
import { Run, drain, engineOf } from '../run/run.ts'
import { prepareTool } from './prepare-call.ts'

/** Input of one tool call. The call of a response fits in: `{ function: tool, ...call }`. */
export interface FunctionPipelineInput {
  /** Tool to call. */
  readonly function: Tool
  /** Arguments, parsed or as the model wrote them. Validated before the middleware runs. @default {} */
  readonly arguments?: string | Readonly<Record<string, unknown>> | undefined
  /** Id of the call, as the model gave it. @default a new id */
  readonly callId?: string | undefined
  /** Run that the call is part of: the `run` of a context. @default a run of its own */
  readonly run?: RunContext | undefined
  /** Aborts the call. @default the run's signal */
  readonly signal?: AbortSignal | undefined
  /** Confirms that a person has approved the call. @default false */
  readonly approved?: boolean | undefined
  /** Adds messages of exceptions and validation errors to the result. @default false */
  readonly includeDetailedErrors?: boolean | undefined
}

/** Runs the tool instead of its `execute`: returns the value, or sets `context.result`. */
export type FunctionHandler = (context: FunctionInvocationContext) => unknown

/** Runs tool calls through function middleware. */
export interface FunctionPipeline {
  /**
   * Runs one tool call. An error of the tool, or arguments that do not fit, become an error result;
   * an error of a middleware rejects. Without a handler, the tool's own `execute` runs.
   * @throws MiddlewareTermination if a middleware ended the loop; LamellaError `approval_invalid` if
   * the call needs an approval that was not given
   */
  execute(context: FunctionPipelineInput, handler?: FunctionHandler): Promise<FunctionResult>
}

/**
 * Composes function middleware for authors of loops. An `Agent` uses the same pipeline.
 *
 * @example
 * ```ts
 * import { functionMiddleware, jsonSchema, tool } from '@lamella/core'
 * import { functionPipeline } from '@lamella/core/authoring'
 *
 * const log = functionMiddleware('log', async (context, callNext) => {
 *   await callNext()
 *   console.log(context.function.name, context.result?.contents) // double [ { type: 'text', text: '42' } ]
 * })
 * const double = tool({
 *   name: 'double',
 *   description: 'Doubles a number.',
 *   parameters: jsonSchema({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }),
 *   execute: ({ n }) => Number(n) * 2,
 * })
 * await functionPipeline(log).execute({ function: double, arguments: '{"n":21}' })
 * ```
 * @throws TypeError for an entry that is not a function middleware
 */
export function functionPipeline(middleware: Nested<FunctionMiddleware>): FunctionPipeline {
  const middlewares = sortMiddlewares(middleware, 'functionPipeline', ['function'])
  const callTool = composeToolCall(middlewares.function)
  return {
    async execute(context, handler) {
      const { function: given, signal, approved } = context
      const run =
        context.run === undefined ? new Run({ sink: drain, signal }) : engineOf(context.run)
      const { callId = run.ids.createId('call'), includeDetailedErrors = false } = context
      const { arguments: args = {} } = context
      const text = typeof args === 'string' ? args : JSON.stringify(args)
      const call = { type: 'function-call', callId, name: given.name, arguments: text } as const
      const tool: Tool = handler ? { ...given, execute: (_, running) => handler(running) } : given
      const decision = approved === true ? ({ approved } as const) : undefined
      const address = run.ids.createId('call')
      const preparing = prepareTool(run, call, address, tool, decision, includeDetailedErrors)
      const step = 'then' in preparing ? await run.unlessAborted(preparing, signal) : preparing
      if ('result' in step) return step.result
      if ('pending' in step) throw refusal(tool)
      const running = new FunctionCall(run, step.run, signal, includeDetailedErrors)
      const result = await callTool(running)
      if (running.terminates !== undefined) throw running.terminates
      return result
    },
  }
}

function refusal({ name, execute }: Tool): LamellaError {
  const problem =
    execute === undefined
      ? `functionPipeline: the tool "${name}" has no \`execute\`, so it needs a handler`
      : `functionPipeline: the tool "${name}" needs approval; pass \`approved: true\` when a person has given it`
  return new LamellaError(problem, { code: 'approval_invalid' })
}

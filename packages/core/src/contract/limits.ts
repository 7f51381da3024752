import type { FunctionCallContent } from '../messages/content.ts'
import type { RunContext, ToolDefinition } from './run.ts'

/** Settings of the loop of model calls and tool calls. Each run takes a snapshot. */
export interface FunctionInvocationConfiguration {
  /** Executes tool calls. If false, the run returns them without executing them. @default true */
  readonly enabled?: boolean | undefined
  /**
   * Maximum number of model calls that may request tools. One last call without tools follows.
   * @default 40
   */
  readonly maxIterations?: number | undefined
  /**
   * Maximum number of tool calls in one run. A call beyond it is not executed and gets an error
   * result.
   * @default no limit
   */
  readonly maxFunctionCalls?: number | undefined
  /**
   * Number of consecutive iterations with a failed tool call after which tools are disabled. 0
   * allows none.
   * @default 3
   */
  readonly maxConsecutiveErrorsPerRequest?: number | undefined
  /**
   * Fails the run when the model calls a tool that does not exist, before any call of the batch
   * runs. If false, the model reads an error.
   * @default false
   */
  readonly terminateOnUnknownCalls?: boolean | undefined
  /**
   * Returns the result of a call to a tool that does not exist, which guardrails judge like any other;
   * `undefined` makes it an error. Not called with `terminateOnUnknownCalls`.
   * @default none
   */
  readonly onUnknownTool?: ((call: FunctionCallContent, run: RunContext) => unknown) | undefined
  /** Tools that can be called but are not shown to the model. @default [] */
  readonly additionalTools?: readonly ToolDefinition[] | undefined
  /**
   * Adds messages of exceptions and validation errors to the results that the model reads.
   * @default false
   */
  readonly includeDetailedErrors?: boolean | undefined
  /** Maximum number of tool calls that run at the same time. @default no limit */
  readonly maxConcurrency?: number | undefined
}

/** Settings of the tool loop, with defaults filled in. */
export interface LoopConfiguration extends FunctionInvocationConfiguration {
  readonly enabled: boolean
  readonly maxIterations: number
  readonly maxFunctionCalls: number
  readonly maxConsecutiveErrorsPerRequest: number
  readonly terminateOnUnknownCalls: boolean
  readonly additionalTools: readonly ToolDefinition[]
  readonly includeDetailedErrors: boolean
  readonly maxConcurrency: number
}

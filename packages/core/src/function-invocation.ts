import type { LoopState } from './chat-options.ts'
import type { FunctionCallContent } from './content.ts'
import type { RunContext } from './run-context.ts'
import type { ToolDefinition } from './tool.ts'

/** How the loop of model calls and tool calls behaves. Each run takes a snapshot. */
export interface FunctionInvocationConfiguration {
  /**
   * Whether calls are executed at all; otherwise they are returned as they are.
   * @default true
   */
  readonly enabled?: boolean | undefined
  /**
   * Model calls that may lead to tool calls. After them comes one last call without tools.
   * @default 40
   */
  readonly maxIterations?: number | undefined
  /**
   * Tool calls of one run. Checked before execution: a call that is over it gets a result that says so.
   * @default no limit
   */
  readonly maxFunctionCalls?: number | undefined
  /**
   * Rounds in a row with a failed call, after which tools are off. 0 allows none.
   * @default 3
   */
  readonly maxConsecutiveErrorsPerRequest?: number | undefined
  /**
   * Whether a call to a tool that does not exist fails the run, before anything of its batch runs.
   * Otherwise the model reads an error.
   * @default false
   */
  readonly terminateOnUnknownCalls?: boolean | undefined
  /**
   * Answers a call to a tool that does not exist, as if it were one; `undefined` leaves it an error. Not
   * asked with `terminateOnUnknownCalls`.
   */
  readonly onUnknownTool?: ((call: FunctionCallContent, run: RunContext) => unknown) | undefined
  /**
   * Tools that can be called although the model is not shown them.
   * @default []
   */
  readonly additionalTools?: readonly ToolDefinition[] | undefined
  /**
   * Whether the model reads what went wrong: messages of exceptions and validation.
   * @default false
   */
  readonly includeDetailedErrors?: boolean | undefined
  /**
   * Tool calls that run at the same time.
   * @default no limit
   */
  readonly maxConcurrency?: number | undefined
}

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

const defaults: LoopConfiguration = {
  enabled: true,
  maxIterations: 40,
  maxFunctionCalls: Infinity,
  maxConsecutiveErrorsPerRequest: 3,
  terminateOnUnknownCalls: false,
  additionalTools: [],
  includeDetailedErrors: false,
  maxConcurrency: Infinity,
}

/** @throws RangeError that names the setting and its value */
export function loopConfiguration(config: FunctionInvocationConfiguration = {}): LoopConfiguration {
  const { onUnknownTool } = config
  const settings: Record<string, unknown> = { onUnknownTool }
  for (const name of Object.keys(defaults) as (keyof LoopConfiguration)[]) {
    const value = config[name] ?? defaults[name]
    const least = name === 'maxConsecutiveErrorsPerRequest' ? 0 : 1
    const isCount = value === Infinity || (Number.isInteger(value) && (value as number) >= least)
    if (typeof defaults[name] === 'number' && !isCount) {
      throw new RangeError(
        `functionInvocation: \`${name}\` must be a whole number from ${least} up, got ${value as number}`,
      )
    }
    settings[name] = value
  }
  if (onUnknownTool !== undefined && typeof onUnknownTool !== 'function') {
    const given = typeof onUnknownTool
    throw new TypeError(`functionInvocation: \`onUnknownTool\` must be a function, got ${given}`)
  }
  return settings as unknown as LoopConfiguration
}

/** Why tools are off, if they are. `more` rounds are allowed beyond the limit. */
export function limitReached(
  { maxConsecutiveErrorsPerRequest, maxFunctionCalls, maxIterations }: LoopConfiguration,
  { iteration, functionCalls, consecutiveErrors }: LoopState,
  more: number,
): 'max_consecutive_errors' | 'max_function_calls' | 'max_iterations' | undefined {
  if (consecutiveErrors >= Math.max(1, maxConsecutiveErrorsPerRequest))
    return 'max_consecutive_errors'
  if (functionCalls >= maxFunctionCalls) return 'max_function_calls'
  return iteration >= maxIterations + more ? 'max_iterations' : undefined
}

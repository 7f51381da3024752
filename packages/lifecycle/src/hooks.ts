import type {
  AgentContext,
  RunContext,
  Tool,
  Session,
  ChatResponse,
  FunctionResult,
} from '@lamella/core'
import type { BatchContext, IterationContext, ChatResponseInit } from '@lamella/core/authoring'
import type { FunctionRequest, ModelRequest } from './requests.ts'

/** Part of a run in which an error occurred. */
export type ErrorSource = 'model' | 'tool' | 'iteration' | 'turn'

/** A failure, for `onError`. */
export interface LifecycleFailure {
  /** The error. */
  readonly error: unknown
  /** Part of the run that failed. */
  readonly source: ErrorSource
  /** 0 for the first model call of the run. */
  readonly iteration: number
  /** The run. */
  readonly run: RunContext
}

/** One tool call, for the hooks before and after it. */
export interface FunctionHookContext {
  /** Data and controls that all contexts of the run share. */
  readonly run: RunContext
  /** The tool that is called. */
  readonly function: Tool
  /** Id of the call, as the model gave it. */
  readonly callId: string
  /** Session of the run. Undefined without one. */
  readonly session: Session | undefined
  /** Values that the hooks of this call and the tool share. */
  readonly metadata: Record<string, unknown>
  /** Aborted when the run ends early. */
  readonly signal: AbortSignal
  /** Validated arguments. */
  readonly arguments: Readonly<Record<string, unknown>>
  /**
   * Skips the tool if set by `beforeFunction`; `overrideResult` becomes the result.
   * @default false
   */
  blockExecution: boolean
  /** Result of a blocked call. @default 'Permission denied.' */
  overrideResult: unknown
  /** Result of the call. `afterFunction` may replace it. */
  get result(): FunctionResult | undefined
  set result(value: unknown)
  /**
   * Error that the tool threw. If `afterFunction` sets it to undefined, `result` is used instead.
   */
  exception: unknown
}

/** Hooks, each optional. All may be async. */
export interface LifecycleHooks {
  /** Name of the middleware, unique among those of an agent. */
  readonly name: string
  /** Runs once, before the first run. If it throws, that run fails and the next one retries it. */
  readonly setup?: (() => void | Promise<void>) | undefined
  /** Runs when the agent is disposed of, if `setup` has run. */
  readonly teardown?: (() => void | Promise<void>) | undefined
  /** Runs once per run, before everything else. May edit input, instructions, options and tools. */
  readonly beforeTurn?: ((context: AgentContext) => void | Promise<void>) | undefined
  /**
   * Runs once per run, regardless of its outcome, except after a pause. May edit `context.result`.
   */
  readonly afterTurn?: ((context: AgentContext, error: unknown) => void | Promise<void>) | undefined
  /** Runs before `afterTurn`, for completed runs only. */
  readonly afterTurnSucceeded?: ((context: AgentContext) => void | Promise<void>) | undefined
  /** Runs before each iteration of the loop. A retry of its model call does not run it again. */
  readonly beforeIteration?: ((context: IterationContext) => void | Promise<void>) | undefined
  /** Wraps each model call: `request.override` changes the request, `handler` sends it. */
  readonly wrapModelCall?:
    | ((
        request: ModelRequest,
        handler: (request: ModelRequest) => Promise<ChatResponse>,
      ) => Promise<ChatResponse | ChatResponseInit | string>)
    | undefined
  /**
   * Runs after each model call, when its response is in the conversation and before its tools run.
   */
  readonly afterModelCall?: ((context: IterationContext) => void | Promise<void>) | undefined
  /** Runs before the tool calls of one response. */
  readonly beforeToolExecution?: ((context: BatchContext) => void | Promise<void>) | undefined
  /** Runs before the tool calls of one response if two or more of them run concurrently. */
  readonly beforeParallelBatch?: ((context: BatchContext) => void | Promise<void>) | undefined
  /** Runs before each tool call. */
  readonly beforeFunction?: ((context: FunctionHookContext) => void | Promise<void>) | undefined
  /** Wraps each tool call. */
  readonly wrapFunctionCall?:
    | ((
        request: FunctionRequest,
        handler: (request: FunctionRequest) => Promise<FunctionResult>,
      ) => Promise<unknown>)
    | undefined
  /** Runs after each tool call, even if it failed or `beforeFunction` blocked it. */
  readonly afterFunction?: ((context: FunctionHookContext) => void | Promise<void>) | undefined
  /** Runs after each iteration, even if it failed, except after a pause. */
  readonly afterIteration?:
    | ((context: IterationContext, error: unknown) => void | Promise<void>)
    | undefined
  /**
   * Receives each failure once, at its source; of a call to an unknown tool or with invalid arguments,
   * a `ToolError`. Errors it throws are discarded. Terminations, pauses
   * and aborts are not failures.
   */
  readonly onError?: ((failure: LifecycleFailure) => void | Promise<void>) | undefined
}

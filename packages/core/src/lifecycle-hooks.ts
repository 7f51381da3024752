import type { AgentContext } from './agent-context.ts'
import type { ChatResponse, ChatResponseInit } from './chat-response.ts'
import type { FunctionResult } from './function-result.ts'
import type { BatchContext, IterationContext } from './loop-seams.ts'
import type { RunContext } from './run-context.ts'
import type { Session } from './session.ts'
import type { Tool } from './tool.ts'
import type { FunctionRequest, ModelRequest } from './wrapped-request.ts'

/** Where an error came up. */
export type ErrorSource = 'model' | 'tool' | 'iteration' | 'turn'

/** What `onError` is told. */
export interface LifecycleFailure {
  readonly error: unknown
  readonly source: ErrorSource
  /** 0 for the first model call of the run. */
  readonly iteration: number
  readonly run: RunContext
}

/** One tool call, for the hooks before and after it. */
export interface FunctionHookContext {
  readonly run: RunContext
  readonly function: Tool
  readonly callId: string
  readonly session: Session | undefined
  readonly metadata: Record<string, unknown>
  readonly signal: AbortSignal
  readonly arguments: Readonly<Record<string, unknown>>
  /** Set by `beforeFunction`: the tool does not run, and `overrideResult` is what the model reads. */
  blockExecution: boolean
  /** @default 'Permission denied.' */
  overrideResult: unknown
  /** What the call came to. `afterFunction` may put something else in place. */
  get result(): FunctionResult | undefined
  set result(value: unknown)
  /** What the tool threw. Where `afterFunction` sets it to undefined, `result` stands for it. */
  exception: unknown
}

/** Hooks, each optional. All may be async. */
export interface LifecycleHooks {
  /** Unique among the layers of an agent. */
  readonly name: string
  /** Once, before the first run. A run fails with what it throws, and the next one tries again. */
  readonly setup?: (() => void | Promise<void>) | undefined
  /** When the agent is disposed of, if `setup` has run. */
  readonly teardown?: (() => void | Promise<void>) | undefined
  /** Once a run, before anything. May edit input, instructions, options and tools. */
  readonly beforeTurn?: ((context: AgentContext) => void | Promise<void>) | undefined
  /** Once a run, however it ended, except by a pause. May edit `context.result`. */
  readonly afterTurn?: ((context: AgentContext, error: unknown) => void | Promise<void>) | undefined
  /** Like `afterTurn` and before it, for runs that completed. */
  readonly afterTurnSucceeded?: ((context: AgentContext) => void | Promise<void>) | undefined
  /** Before each round of the loop. A retry of its model call does not enter it again. */
  readonly beforeIteration?: ((context: IterationContext) => void | Promise<void>) | undefined
  /** Around each model call: `request.override` changes it, `handler` makes it. */
  readonly wrapModelCall?:
    | ((
        request: ModelRequest,
        handler: (request: ModelRequest) => Promise<ChatResponse>,
      ) => Promise<ChatResponse | ChatResponseInit | string>)
    | undefined
  /** After each model call, when its answer stands in the conversation and before its tools run. */
  readonly afterModelCall?: ((context: IterationContext) => void | Promise<void>) | undefined
  /** Before the tool calls of one response. */
  readonly beforeToolExecution?: ((context: BatchContext) => void | Promise<void>) | undefined
  /** The same, where two or more of them run side by side. */
  readonly beforeParallelBatch?: ((context: BatchContext) => void | Promise<void>) | undefined
  /** Before each tool call. */
  readonly beforeFunction?: ((context: FunctionHookContext) => void | Promise<void>) | undefined
  /** Around each tool call. */
  readonly wrapFunctionCall?:
    | ((
        request: FunctionRequest,
        handler: (request: FunctionRequest) => Promise<FunctionResult>,
      ) => Promise<unknown>)
    | undefined
  /** After each tool call that `beforeFunction` let through or blocked, also when it failed. */
  readonly afterFunction?: ((context: FunctionHookContext) => void | Promise<void>) | undefined
  /** After each round, also when it failed, except by a pause. */
  readonly afterIteration?:
    | ((context: IterationContext, error: unknown) => void | Promise<void>)
    | undefined
  /**
   * Told of each failure once, where it came up. What it throws is dropped. Terminations, pauses and
   * aborts are no failures.
   */
  readonly onError?: ((failure: LifecycleFailure) => void | Promise<void>) | undefined
}

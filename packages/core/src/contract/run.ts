import type { StoreNeed } from '../store/store-needs.ts'
import type { KeyValueStore } from '../store/store.ts'
import type { IdSource } from '../base/create-id.ts'
import type { Clock } from '../base/timers.ts'
import type { JsonSchema, Schema } from '../base/standard-schema.ts'
import type { ApprovalRequestContent, FunctionCallContent } from '../messages/content.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import type { Message } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import type { RunEvent, RunEventInit, RunRequestInit } from './events.ts'
import type { AgentResponseInit, Attempt, Stop } from './outcome.ts'
import type { Session } from '../messages/session.ts'
import type { RunState } from './state.ts'
import type { RunPlan } from './run-plan.ts'

/** Conversation of a run: history, input, and messages of the run. */
export interface RunMessages {
  /** The whole conversation, oldest message first. */
  readonly all: readonly Message[]
  /**
   * Messages of the current run: the user's turn that it responds to, and what the run has added. The result of a
   * call from before the run stands behind that call. Includes results of earlier runs that no model has read.
   * Empty before the loop begins.
   */
  readonly current: readonly Message[]
  /** Those of `current` that no model has read yet. Whatever shortens a request keeps them. */
  readonly unread: readonly Message[]
  /**
   * Replaces the conversation for the rest of the run and in the session. Between two calls of `callNext()`,
   * an agent middleware rewrites history and input, which the second one starts from. Messages with a call or
   * request that waits for an answer stay even if the rewriter removes them.
   */
  rewrite(rewriter: (messages: readonly Message[]) => readonly Message[]): void
}

/**
 * Tools of a run. Changes apply from the next model call on; a tool that is removed cannot be called any
 * more. After the loop they throw, unless a middleware runs it again.
 */
export interface RunTools extends Iterable<ToolDefinition> {
  /** Tools that can be called, shown to the model or not. */
  readonly executable: readonly ToolDefinition[]
  /** Tools that are shown to the model: executable, and neither hidden nor deferred. */
  readonly visible: readonly ToolDefinition[]
  /** Returns the tool with this name, shown to the model or not. */
  get(name: string): ToolDefinition | undefined
  /**
   * Adds tools to the run.
   * @throws LamellaError `tool_conflict` if another tool has the name; then none is added.
   */
  add(...tools: readonly ToolDefinition[]): void
  /** Removes tools, by name or object; unknown ones are ignored. */
  remove(...tools: readonly (string | ToolDefinition)[]): void
  /** Keeps tools executable without showing them. */
  hide(...names: readonly string[]): void
  /** Shows hidden and deferred tools again. */
  show(...names: readonly string[]): void
  /** Hides tools until something, such as a tool search, shows them. */
  defer(...names: readonly string[]): void
  /** Tools that are hidden until something shows them. */
  readonly deferred: readonly ToolDefinition[]
  /** Overrides `returnDirect` of a tool for this run. */
  setReturnDirect(name: string, value: boolean): void
  /**
   * Returns true if the result of the tool is the answer of the run: the last override, else the tool's
   * `returnDirect`.
   */
  returnsDirect(name: string): boolean
}

/** Data and controls that all contexts of one run share. `Data` is the type of the run's `data`. */
export interface RunContext<Data = unknown> {
  /** Id of the run. */
  readonly id: string
  /** Name of the agent. Undefined for a call without an agent, or an agent without a name. */
  readonly agentName: string | undefined
  /** Session of the run. Undefined without one. */
  readonly session: Session | undefined
  /** Aborted when the run ends early. */
  readonly signal: AbortSignal
  /** The run whose tool started this one. */
  readonly parent: RunContext | undefined
  /** 0 for a run that no other run started. */
  readonly depth: number
  /** Clock of the run: the agent's, by default that of the machine. Use it for every time and wait. */
  readonly clock: Clock
  /** Returns a random number from 0 to below 1, for jitter and samples. By default `Math.random`. */
  readonly random: () => number
  /** Makes the ids of the run: from the random numbers of the agent, if it has its own. Use it for every id. */
  readonly ids: IdSource
  /** 0 during the first model call. */
  readonly iteration: number
  /** Tokens of all model calls so far, including failed ones and those of nested runs. */
  readonly usage: Usage
  /** Recorded attempts of model calls so far. */
  readonly attempts: readonly Attempt[]
  /** Provider of the current model call. Undefined while a middleware answers instead. */
  readonly servedBy: string | undefined
  /** Conversation of the run. */
  readonly messages: RunMessages
  /** Tools of the run. Changes apply from the next model call on. */
  readonly tools: RunTools
  /** Values of state cells. */
  readonly state: RunState
  /** Tenant that the run belongs to. A nested run has its caller's by default. */
  readonly tenant: string | undefined
  /** User that the run belongs to. A nested run has its caller's by default. */
  readonly principal: string | undefined
  /**
   * Store of the agent, or of the agent that runs this one. Undefined without one. Keep data in a part of
   * your own, `storeNamespace(run.store, { name, tenant: run.tenant, principal: run.principal })`; `perStore`
   * finds the store for a middleware with a `store` option.
   */
  readonly store: KeyValueStore | undefined
  /** Value of the run's option `data`. Never shown to a model. */
  readonly data: Data
  /** Records an attempt of a model call for `response.attempts`. */
  recordAttempt(attempt: Omit<Attempt, 'iteration'>): void
  /** Adds tokens used by a middleware's own model calls. */
  addUsage(usage: Usage): void
  /** Sends an event to the caller: into the stream, or to `onEvent`. */
  emit(event: RunEventInit): void
  /**
   * Calls `listener` with every event of this run, streamed or not, until the returned function is
   * called. Errors of `listener` are discarded.
   */
  observe(listener: (event: RunEvent) => void): () => void
  /** Asks the caller and waits for `stream.respond(id, value)` or `onRequest`. */
  request<Value = unknown>(request: RunRequestInit<Value>): Promise<Value>
  /** Tool calls of this run wait until `verdict` settles. If it rejects, the run fails at the next one. */
  holdTools(verdict: Promise<unknown>): void
  /**
   * Adds gates to the tool calls of the run, inside the existing ones. A gate cannot lift a requirement of another
   * gate or of the tool. Call it in an agent middleware, before its `callNext()`; an error of a gate fails the run.
   */
  gateCalls(gate: CallGate): void
  /**
   * Adds a gate to the messages that join the run after it has begun, inside the existing ones, as
   * `IterationContext.addInput` adds them. A middleware that judges the input of a run judges those with it. Call it
   * in an agent middleware, before its `callNext()`.
   */
  gateInput(gate: InputGate): void
  /**
   * Ends the loop after the current step. Code after `callNext()` still runs in every middleware.
   */
  stop(
    reason: string,
    options?: { readonly response?: AgentResponseInit | string | undefined },
  ): void
  /** The requested stop. Undefined without one. `state.batch` reverts it too. */
  readonly stopped: Stop | undefined
  /** Adds `count` iterations to this run's `maxIterations`. */
  allowIterations(count: number): void
  /**
   * Pauses the run. After `agent.resume`, the same middleware runs again and this call resolves to
   * the answer.
   */
  interrupt<Value = unknown>(payload: unknown): Promise<Value>
}

/**
 * Judges messages that join a run after it has begun. Returns them, edited or not; an error that it throws
 * keeps them out.
 */
export type InputGate = (
  messages: readonly Message[],
) => readonly Message[] | Promise<readonly Message[]>

/** One tool call. Only the middleware further inside and the tool see assignments. */
export interface FunctionInvocationContext<Data = unknown> {
  /** Data and controls that all contexts of the run share. */
  readonly run: RunContext<Data>
  /** Values that the middleware of this call and the tool share. */
  readonly metadata: Record<string, unknown>
  /**
   * Aborted when the run ends or another call of the batch ends it; for the tool, also at its
   * timeout. A middleware that may cancel the call assigns its own signal, as in a `ChatContext`.
   */
  signal: AbortSignal
  /** The tool that is called. */
  readonly function: Tool
  /** Id of the call, as the model gave it. */
  readonly callId: string
  /** True if the tool itself returned the result, not a middleware. */
  readonly executed: boolean
  /** Session of the run. Undefined without one. */
  readonly session: Session | undefined
  /** Tools of the run. Changes apply from the next model call on. */
  readonly tools: RunTools
  /** Validated arguments. Assigned ones are validated again before the tool runs. */
  arguments: Readonly<Record<string, unknown>>
  /** The run's `data`, as this call sees it. */
  data: Data
  /** Result of the call, after `callNext()`. Assigning a value replaces it. */
  get result(): FunctionResult | undefined
  /** The value is converted like a return value of the tool. */
  set result(value: unknown)
  /**
   * Changes the values that a streaming tool yields before they are emitted as progress:
   * `transform` returns the value to emit, or `undefined` for none. Inner middleware comes first.
   * Call it before `callNext()`.
   * @throws MiddlewareContractError after `callNext()`
   */
  transformProgress(transform: (value: unknown) => unknown): void
  /**
   * Adds tools to the run, from the next model call on.
   * @throws LamellaError `tool_conflict` if another tool has the name; then none is added.
   */
  addTools(...tools: readonly ToolDefinition[]): void
  /** Removes tools, by name or object; unknown ones are ignored. */
  removeTools(...tools: readonly (string | ToolDefinition)[]): void
}

/** A call for which an approval policy decides. */
export interface ApprovalSubject {
  /** Id of the call. */
  readonly callId: string
  /** Validated arguments. */
  readonly arguments: Readonly<Record<string, unknown>>
}

/** Policy that decides which calls of a tool need a person's approval. */
export type ApprovalPolicy =
  | 'never'
  | 'always'
  | ((subject: ApprovalSubject) => boolean | Promise<boolean>)

/** Reason and metadata of an approval request. */
export type ApprovalNote = Pick<ApprovalRequestContent, 'reason' | 'metadata'>

/** A tool call before it runs or waits for a person. */
export interface ApprovalQuestion extends ApprovalSubject {
  /** The tool that is called. */
  readonly tool: Tool
  /** The call as the model wrote it. */
  readonly call: FunctionCallContent
  /** True if the tool's policy or an outer middleware already requires approval. */
  readonly asks: boolean
}

/** Decides if a call waits for a person; a note becomes part of the request. */
export type ApprovalGate = (
  question: ApprovalQuestion,
) => boolean | ApprovalNote | Promise<boolean | ApprovalNote>

/**
 * Judges a call right before its tool runs, with the arguments that the tool gets. A value other
 * than `undefined` replaces the result of the tool.
 */
export type ExecutionGate = (context: FunctionInvocationContext) => unknown

/** Gates through which the tool calls of a run pass. */
export interface CallGate {
  /** Decides if a call waits for a person. */
  readonly approval?: ApprovalGate | undefined
  /** Judges a call right before its tool runs. */
  readonly execution?: ExecutionGate | undefined
}

/** A tool that this process (or, without `execute`, the caller) runs. */
export interface Tool {
  readonly type: 'function'
  /** Name by which the model calls the tool. */
  readonly name: string
  /** Description for the model. */
  readonly description: string
  /** JSON Schema of the arguments, as shown to the model. */
  readonly jsonSchema: JsonSchema
  /** Schema that validates arguments. */
  readonly parameters: Schema
  /** Runs a call. Without it, the tool is declared only, and a call to it pauses the run. */
  readonly execute?:
    | ((args: Record<string, unknown>, context: FunctionInvocationContext) => unknown)
    | undefined
  /** Policy that decides which calls need a person's approval. */
  readonly approval: ApprovalPolicy
  /** Time limit of a call in milliseconds. Undefined means no limit. */
  readonly timeoutMs?: number | undefined
  /** The result is the answer of the run; the model is not called again. */
  readonly returnDirect: boolean
  /** Calling it twice has the same effect as calling it once. */
  readonly idempotent: boolean
  /** It changes nothing. */
  readonly readOnly: boolean
  /** Never runs concurrently with other calls of its batch. */
  readonly exclusive: boolean
  /** After a crash it continues from its own steps, as a sub-agent does. @default false */
  readonly resumable?: boolean | undefined
  /** Lets clients see the progress that the tool yields. @default false */
  readonly publicProgress?: boolean | undefined
  /** Values for middleware. Never shown to the model. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Other names by which a model may call it. */
  readonly aliases: readonly string[]
  /** Other names of arguments, mapped to the real names. */
  readonly argumentAliases?: Readonly<Record<string, string>> | undefined
}

/** A tool that the provider runs itself. It is passed on unchanged. */
export interface HostedTool {
  readonly type: 'hosted'
  /** Name of the tool, unique in a run. */
  readonly name: string
  /** Definition in the provider's format. */
  readonly definition: Readonly<Record<string, unknown>>
}

/** A tool that the model may call, here or at the provider. */
export type ToolDefinition = Tool | HostedTool

/** Runs everything inside this middleware and resolves to its result, which is also in `context.result`. */
export type CallNext<Result> = () => Promise<Result>

/**
 * Return value of `process`: nothing, or a result, which counts as if it were assigned to `context.result`. The value
 * that `callNext()` resolved to changes nothing.
 */
export type Returned<Result> = Result | void | Promise<Result | void>

/** Properties of middleware of every level. */
export interface MiddlewareBase {
  /** Unique name among the middleware of its level, for errors and logs. */
  readonly name: string
  /**
   * Kind of middleware, such as `retry`. `explain` knows the recommended order of the common ones.
   * @default none
   */
  readonly role?: string | undefined
  /**
   * Parts of the agent's store that the middleware needs. Creating an agent whose store lacks one
   * throws.
   * @default none
   */
  readonly storeNeeds?: readonly StoreNeed[] | undefined
  /**
   * Runs in sub-agents as well, outside their own middleware, unless one of those has the same
   * `role`, or without a role the same `name`.
   * @default false
   */
  readonly inherited?: boolean | undefined
  /** Finds a tool that it had added to a run before a pause. @default none */
  findTool?(name: string): ToolDefinition | undefined
  /**
   * Returns warnings about a run that would not do what the options of the middleware say, for `explain()`.
   * @default none
   */
  review?(plan: RunPlan): readonly string[]
}

/** A middleware around every tool call. */
export interface FunctionMiddleware extends MiddlewareBase {
  readonly level: 'function'
  /**
   * Handles one tool call. Calls `callNext()` to run everything inside, or sets `context.result`. A value that it
   * returns counts as if it were assigned there, unless `callNext()` resolved to it.
   */
  process(context: FunctionInvocationContext, callNext: CallNext<FunctionResult>): unknown
  /**
   * Handles the answer to a tool call that does not run: the rejection by a person, or the result of a declared
   * tool. `callNext()` resolves to it. A value that it returns counts, as for `process`.
   * @default it passes
   */
  processAnswer?(context: FunctionInvocationContext, callNext: CallNext<FunctionResult>): unknown
  /**
   * True if `process` passes each call unchanged, so that a pipeline without answers may omit this
   * middleware.
   * @default false
   */
  readonly answersOnly?: boolean | undefined
}

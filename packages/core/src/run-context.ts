import type { AgentResponseInit, Attempt } from './agent-response.ts'
import type { Message } from './message.ts'
import type { RunEvent, RunEventInit, RunRequestInit } from './run-events.ts'
import type { RunState } from './run-state.ts'
import type { Session } from './session.ts'
import type { ToolDefinition } from './tool.ts'
import type { Usage } from './usage.ts'

/** The conversation that a run works on: history, input, and what came since. */
export interface RunMessages {
  readonly all: readonly Message[]
  /** Replaces it for the rest of the run and for what the session keeps. */
  rewrite(rewriter: (messages: readonly Message[]) => readonly Message[]): void
}

/** What the run may call. Changes act from the next model call. */
export interface RunTools extends Iterable<ToolDefinition> {
  readonly executable: readonly ToolDefinition[]
  /** What the model is shown: executable, and neither hidden nor deferred. */
  readonly visible: readonly ToolDefinition[]
  get(name: string): ToolDefinition | undefined
  /** @throws LamellaError `tool_conflict` if another tool has the name; then none is added. */
  add(...tools: readonly ToolDefinition[]): void
  /** By name or object; unknown ones are ignored. */
  remove(...tools: readonly (string | ToolDefinition)[]): void
  /** Keeps tools executable without showing them. */
  hide(...names: readonly string[]): void
  /** Shows hidden and deferred tools again. */
  show(...names: readonly string[]): void
  /** Hides tools until something, such as a tool search, shows them. */
  defer(...names: readonly string[]): void
  readonly deferred: readonly ToolDefinition[]
  setReturnDirect(name: string, value: boolean): void
}

/** What all contexts of one run share. */
export interface RunContext {
  readonly id: string
  readonly agentName: string | undefined
  readonly session: Session | undefined
  readonly signal: AbortSignal
  /** The run whose tool started this one. */
  readonly parent: RunContext | undefined
  /** 0 for a run that no other run started. */
  readonly depth: number
  /** 0 during the first model call. */
  readonly iteration: number
  /** Of all model calls so far, also of those that failed, and those of runs inside this one. */
  readonly usage: Usage
  readonly attempts: readonly Attempt[]
  /** The provider that the model call at hand was made to; missing while a layer answers in its place. */
  readonly servedBy: string | undefined
  readonly messages: RunMessages
  readonly tools: RunTools
  readonly state: RunState
  /** Whose run it is, where several share an application. A run inside of another has that of its caller. */
  readonly tenant: string | undefined
  /** What the caller passed as `data`. */
  readonly data: unknown
  recordAttempt(attempt: Omit<Attempt, 'iteration'>): void
  /** Counts tokens that a layer's own model calls cost. */
  addUsage(usage: Usage): void
  /** Sends an event to the caller: into the stream, or to `onEvent`. */
  emit(event: RunEventInit): void
  /**
   * Tells `listener` of every event of this run, streamed or not, until the returned function is
   * called. What it throws is dropped.
   */
  observe(listener: (event: RunEvent) => void): () => void
  /** Asks the caller and waits for `stream.respond(id, value)` or `onRequest`. */
  request<Value = unknown>(request: RunRequestInit<Value>): Promise<Value>
  /** Tool calls of this run wait until `verdict` settles. Its rejection fails the run. */
  holdTools(verdict: Promise<unknown>): void
  /** Ends the loop at its next boundary; every layer's code after `callNext()` runs. */
  stop(
    reason: string,
    options?: { readonly response?: AgentResponseInit | string | undefined },
  ): void
  /** Allows the loop more rounds than `maxIterations`, counted for this run. */
  allowIterations(count: number): void
  /** Pauses the run. After `agent.resume` the same layer is entered again and this call answers. */
  interrupt<Value = unknown>(payload: unknown): Promise<Value>
}

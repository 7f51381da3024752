import type { FunctionResult } from './function-result.ts'
import type { RunContext, RunTools } from './run-context.ts'
import type { Session } from './session.ts'
import type { Tool, ToolDefinition } from './tool.ts'

/** One tool call. Assignments are seen by the layers inside and by the tool. */
export interface FunctionInvocationContext {
  readonly run: RunContext
  readonly metadata: Record<string, unknown>
  /**
   * Aborted when the run ends or a sibling call breaks it; for the tool, also when its time is up. A
   * layer that may give up on the call puts one of its own in place, as in a `ChatContext`.
   */
  signal: AbortSignal
  readonly function: Tool
  readonly callId: string
  /** Whether the tool itself has given a result, and no layer in its place. */
  readonly executed: boolean
  readonly session: Session | undefined
  /** What the run may call, live; changes act from the next model call. */
  readonly tools: RunTools
  /** Validated. What a layer puts here is validated again before the tool runs. */
  arguments: Readonly<Record<string, unknown>>
  /** The run's `data`, as this call sees it. */
  data: unknown
  get result(): FunctionResult | undefined
  /** A value is turned into contents as if the tool had returned it. */
  set result(value: unknown)
  /** @throws LamellaError `tool_conflict` if another tool has the name; then none is added. */
  addTools(...tools: readonly ToolDefinition[]): void
  /** By name or object; unknown ones are ignored. */
  removeTools(...tools: readonly (string | ToolDefinition)[]): void
}

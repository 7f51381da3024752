import type { ApprovalRequestContent, FunctionCallContent } from './content.ts'
import type { ChatResponse, ChatResponseInit, ChatResponseUpdate } from './chat-response.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { RunEvent } from './run-events.ts'
import type { Block } from './termination.ts'
import type { Usage } from './usage.ts'

/** How a run ended. */
export type RunStatus =
  | 'completed'
  | 'terminated'
  | 'blocked'
  | 'budget_exhausted'
  | 'max_iterations'
  | 'paused'

/** One try of a model call, recorded by a layer that calls again. */
export interface Attempt {
  readonly iteration: number
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly status: 'ok' | 'failed' | 'rejected'
  /** The code or kind of the failure. */
  readonly reason?: string | undefined
  /** Milliseconds waited before the next try. */
  readonly delayMs?: number | undefined
  readonly usage?: Usage | undefined
}

/** What a paused run waits for. */
export type PendingRequest =
  | { readonly kind: 'approval'; readonly id: string; readonly request: ApprovalRequestContent }
  | { readonly kind: 'function-call'; readonly id: string; readonly call: FunctionCallContent }
  | {
      readonly kind: 'interrupt'
      readonly id: string
      readonly payload: unknown
      readonly address: string
    }

/** The outcome of a run. */
export interface AgentResponse<Value = unknown> extends ChatResponse<Value> {
  readonly status: RunStatus
  readonly runId: string
  readonly attempts: readonly Attempt[]
  /** What a paused run waits for. */
  readonly pending: readonly PendingRequest[]
  /** JSON to continue a paused run from. Keep it where the user cannot change it. */
  readonly checkpoint?: Checkpoint | undefined
  readonly block?: Block | undefined
  /** Why the run was stopped, where a layer gave a reason. */
  readonly reason?: string | undefined
}

export interface AgentResponseInit<Value = unknown>
  extends ChatResponseInit<Value>,
    Partial<Omit<AgentResponse<Value>, keyof ChatResponse>> {}

/** A piece of a run on its way: what the model, the tools and the layers bring forth. */
export interface AgentResponseUpdate extends ChatResponseUpdate {
  readonly event?: RunEvent | undefined
}

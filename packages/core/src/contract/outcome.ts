import type {
  ChatResponse,
  ChatResponseInit,
  ChatResponseUpdate,
} from '../messages/chat-response.ts'
import type { ApprovalRequestContent, FunctionCallContent } from '../messages/content.ts'
import type { FunctionResult } from '../messages/function-result.ts'
import type { Message } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import type { RunEvent } from './events.ts'
import type { Block } from './termination.ts'

/** How a run ended. */
export type RunStatus =
  | 'completed'
  | 'terminated'
  | 'blocked'
  | 'budget_exhausted'
  | 'max_iterations'
  | 'paused'

/** One attempt of a model call, recorded by a middleware that retries or falls back. */
export interface Attempt {
  /** Iteration of the run; 0 for the first. */
  readonly iteration: number
  /** Provider that was called. */
  readonly provider?: string | undefined
  /** Model that was called. */
  readonly model?: string | undefined
  /** Result: `ok`, `failed` with an error, or `rejected` by a middleware after an answer. */
  readonly status: 'ok' | 'failed' | 'rejected'
  /** The code or kind of the failure. */
  readonly reason?: string | undefined
  /** Milliseconds waited before the next attempt. */
  readonly delayMs?: number | undefined
  /** Tokens that the attempt used, if known. */
  readonly usage?: Usage | undefined
}

/** Requests that a paused run waits for. */
export type PendingRequest =
  | {
      readonly kind: 'approval'
      /** Key for the answer in `agent.resume`. */
      readonly id: string
      /** The approval request. */
      readonly request: ApprovalRequestContent
    }
  | {
      readonly kind: 'function-call'
      /** Key for the answer in `agent.resume`. */
      readonly id: string
      /** The call of a tool without `execute`. */
      readonly call: FunctionCallContent
    }
  | {
      readonly kind: 'interrupt'
      /** Key for the answer in `agent.resume`. */
      readonly id: string
      /** Value that was passed to `run.interrupt`. */
      readonly payload: unknown
      /** Position of the interrupt in the run, used to deliver the answer. */
      readonly address: string
    }

/** The outcome of a run. */
export interface AgentResponse<Value = unknown> extends ChatResponse<Value> {
  /** How the run ended. */
  readonly status: RunStatus
  /** Id of the run. */
  readonly runId: string
  /** Recorded attempts of model calls, in order. */
  readonly attempts: readonly Attempt[]
  /** Requests that a paused run waits for. */
  readonly pending: readonly PendingRequest[]
  /** JSON that resumes a paused run. Store it where the user cannot change it. */
  readonly checkpoint?: Checkpoint | undefined
  /** The guardrail's report, for status `blocked`. */
  readonly block?: Block | undefined
  /** Reason why the run was stopped, if a middleware gave one. */
  readonly reason?: string | undefined
}

/** Input for an agent response: messages, and any other fields. */
export interface AgentResponseInit<Value = unknown>
  extends ChatResponseInit<Value>,
    Partial<Omit<AgentResponse<Value>, keyof ChatResponse>> {}

/** One update of a streamed run, from the model, a tool or a middleware. */
export interface AgentResponseUpdate extends ChatResponseUpdate {
  /** Event of the run, in updates that carry one. */
  readonly event?: RunEvent | undefined
}

/** How a run ends, and why. */
export interface RunEnding {
  readonly status: RunStatus
  readonly reason?: string | undefined
  /** Requests that a paused run waits for. */
  readonly pending?: readonly PendingRequest[] | undefined
}

/** References to the messages that a run added, for resuming it. */
export interface Told {
  /** Messages added before the last rewrite: the message, or its index in the conversation. */
  readonly absorbed: readonly (Message | number)[]
  /** Number of messages at the end that were added since. */
  readonly last: number
}

/** A run's changes to its tools, by name, for a checkpoint. */
export interface RunToolsSnapshot {
  /** Tools that are shown to the model, in order. */
  readonly visible: readonly string[]
  /** Tools that are not shown to the model, and why. */
  readonly withheld: readonly (readonly [name: string, how: 'hidden' | 'deferred'])[]
  /** Overrides of `returnDirect`, by tool name. */
  readonly returnDirect: readonly (readonly [name: string, value: boolean])[]
}

/** Decision about a pending call. */
export type Decision =
  | {
      readonly approved: boolean
      readonly arguments?: Readonly<Record<string, unknown>> | undefined
      readonly reason?: string | undefined
    }
  | { readonly result: unknown }

/** By call id. */
export type Decisions = Map<string, Decision>

/** A requested stop and its final response. */
export interface Stop {
  /** Reason of the stop, which becomes `response.reason`. */
  readonly reason: string
  /** Final response of the run. Undefined means what the run has so far. */
  readonly response?: AgentResponseInit | string | undefined
}

/**
 * A paused run as JSON: the conversation, finished work and pending requests. Anyone who can change
 * it controls the run: store it out of the user's reach.
 */
export interface Checkpoint {
  readonly version: 1
  /** Id of the checkpoint. */
  readonly id: string
  /** Id of the run. */
  readonly runId: string
  /** Name of the agent. */
  readonly agentName?: string | undefined
  /** Id of the run's session. */
  readonly sessionId?: string | undefined
  /** The input of the run. */
  readonly input: readonly Message[]
  /**
   * The conversation so far, with history and input; without the run's own messages if the loop is
   * done. Missing if the loop had not begun.
   */
  readonly conversation?: readonly Message[] | undefined
  /** Id of a conversation that the provider stores. */
  readonly conversationId?: string | undefined
  /** Provider that stores the conversation. */
  readonly keeper?: string | undefined
  /** Number of messages that this provider has received. */
  readonly sent: number
  /** Iteration at which the run paused; 0 for the first. */
  readonly iteration: number
  /** Number of tool calls executed so far. */
  readonly functionCalls: number
  /** Number of consecutive iterations with a failed tool call. */
  readonly consecutiveErrors: number
  /** Iterations that middlewares have allowed beyond the limit. @default 0 */
  readonly moreIterations?: number | undefined
  /** Tokens used so far. */
  readonly usage: Usage
  /** Recorded attempts of model calls so far. */
  readonly attempts: readonly Attempt[]
  /** Requests that the run waits for. */
  readonly pending: readonly PendingRequest[]
  /** Answers to interrupts, by address. */
  readonly answers: Readonly<Record<string, unknown>>
  /** Values of the run's state cells that have a schema, by name. */
  readonly state: Readonly<Record<string, unknown>>
  /** Changes of the run to its tools. */
  readonly tools?: RunToolsSnapshot | undefined
  /** Groups of open calls with the decisions made so far, by call id. */
  readonly held: readonly (readonly [
    id: string,
    decisions: readonly (readonly [callId: string, Decision])[],
  ])[]
  /** Model call that finished while a middleware paused the run. */
  readonly model?:
    | {
        /** Iteration of the model call. */
        readonly iteration: number
        /** Its response. */
        readonly response: ChatResponse
      }
    | undefined
  /** Results of tool calls that finished while a middleware paused the run, by call id. */
  readonly toolResults: readonly (readonly [callId: string, result: FunctionResult])[]
  /** Response of a loop that finished while a middleware paused the run. */
  readonly loop?:
    | {
        /** The response. */
        readonly response: AgentResponse
        /** Ids of the run's messages that the conversation already contains. */
        readonly absorbed: readonly string[]
      }
    | undefined
  /**
   * Messages that the run has emitted since it began or was resumed, in a checkpoint taken during a
   * run. A resumed run emits them again, so that its middlewares see all of them.
   */
  readonly told?: Told | undefined
  /** Ids of messages that a rewrite removed. An older copy of the session still has them. */
  readonly dropped?: readonly string[] | undefined
  /** Requested stop, in a checkpoint taken during a run. */
  readonly stopped?: Stop | undefined
  /** Checkpoints of paused sub-agents, by the id of the call that runs them. */
  readonly children: Readonly<Record<string, Checkpoint>>
}

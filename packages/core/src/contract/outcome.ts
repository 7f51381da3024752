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
  /** Name of the client that was called, if it has one. */
  readonly client?: string | undefined
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

/** Fields of every request that a paused run waits for. */
interface PendingFields {
  /** Key for the answer in `agent.resume`. */
  readonly id: string
  /** Position in the run, to which the answer is delivered. */
  readonly address: string
  /** Names of the tools through which a sub-agent asks, the outermost first. Missing for the run's own requests. */
  readonly path?: readonly string[] | undefined
}

/** Request that a paused run waits for. */
export type PendingRequest = PendingFields &
  (
    | {
        readonly kind: 'approval'
        /** The approval request. */
        readonly request: ApprovalRequestContent
      }
    | {
        readonly kind: 'function-call'
        /** The call of a tool without `execute`. */
        readonly call: FunctionCallContent
      }
    | {
        readonly kind: 'interrupt'
        /** Value that was passed to `run.interrupt`. */
        readonly payload: unknown
      }
  )

/** The outcome of a run. */
export interface AgentResponse<Value = unknown> extends ChatResponse<Value> {
  /** How the run ended. */
  readonly status: RunStatus
  /** Id of the run. */
  readonly runId: string
  /** Recorded attempts of model calls, in order. */
  readonly attempts: readonly Attempt[]
  /**
   * Requests that a paused run waits for, or that stay open because the run that continued them
   * ended before any effect.
   */
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

/** A run's changes to its tools, by name, for a checkpoint. */
export interface RunToolsSnapshot {
  /** Tools that are shown to the model, in order. */
  readonly visible: readonly string[]
  /** Tools that are not shown to the model, and why. */
  readonly withheld: readonly (readonly [name: string, how: 'hidden' | 'deferred'])[]
  /** Overrides of `returnDirect`, by tool name. */
  readonly returnDirect: readonly (readonly [name: string, value: boolean])[]
  /** Tools that the run has added to those that it began with, or removed from them. `joined`: added by its loop. */
  readonly edited?:
    | readonly (readonly [name: string, how: 'added' | 'joined' | 'removed'])[]
    | undefined
}

/** Decision about a pending call. */
export type Decision =
  | {
      /** True if the tool call may run. */
      readonly approved: boolean
      /** Arguments that replace the requested ones. Undefined keeps them. */
      readonly arguments?: Readonly<Record<string, unknown>> | undefined
      /** Reason of a rejection, for the model. */
      readonly reason?: string | undefined
    }
  | {
      /** Result of a tool that the application runs, or answer to an interrupt. */
      readonly result: unknown
    }

/** A requested stop and its final response. */
export interface Stop {
  /** Reason of the stop, which becomes `response.reason`. */
  readonly reason: string
  /** Final response of the run. Undefined means what the run has so far. */
  readonly response?: AgentResponseInit | string | undefined
}

/** Finished step of a run. */
export type JournalStep =
  | {
      /** The loop began. */
      readonly kind: 'begin'
      /** The conversation that it began with. */
      readonly messages: readonly Message[]
      /** Instructions, if agent middleware has changed them. */
      readonly instructions?: string | undefined
      /** Model options, if agent middleware has changed them: those that are JSON. */
      readonly options?: object | undefined
    }
  | {
      /**
       * `response`: a model's response, after its middleware. `messages`: others that joined the
       * conversation. `rewrite`: the conversation after a rewrite.
       */
      readonly kind: 'response' | 'messages' | 'rewrite'
      /** The messages. */
      readonly messages: readonly Message[]
    }
  | {
      /** Replaces the last messages of the conversation. */
      readonly kind: 'revise'
      /** Number of messages that are replaced. */
      readonly count: number
      /** The messages that replace them. */
      readonly messages: readonly Message[]
    }
  | {
      /** Replaces the message with the same id, which now holds requests for approval. */
      readonly kind: 'request'
      /** The message. */
      readonly message: Message
    }
  | {
      /** Work on the tool calls of a response began. */
      readonly kind: 'calls'
      /** Id of the last message with those calls. */
      readonly group: string
    }
  | {
      /** Results joined the conversation. */
      readonly kind: 'results'
      /** Index in the conversation. */
      readonly at: number
      /** The message with the results. */
      readonly message: Message
      /** Number of tool calls that were executed. */
      readonly executed: number
      /** True if a call failed. Missing for results of calls that were cancelled. */
      readonly failed?: boolean | undefined
    }
  | {
      /** Provider's response, before its middleware was done with it. */
      readonly kind: 'model'
      /** The response. */
      readonly response: ChatResponse
    }
  | {
      /** `tool`: a tool returned. `call`: the middleware of a tool call was done with it, failed or not. */
      readonly kind: 'tool' | 'call'
      /** Position of the call. */
      readonly address: string
      /** The result. */
      readonly result: FunctionResult
    }
  | {
      /** A tool that cannot safely run twice begins. Without a result, its effect is unknown. */
      readonly kind: 'start'
      /** Position of the call. */
      readonly address: string
    }
  | {
      /** A request was answered. */
      readonly kind: 'answer'
      /** Id of the request. */
      readonly id: string
      /** Position to which the answer is delivered. */
      readonly address: string
      /** The answer; a `Decision` for a call. */
      readonly answer: unknown
    }
  | {
      /** A sub-agent paused or saved a step. */
      readonly kind: 'agent'
      /** Position of the call that runs it. */
      readonly address: string
      /** The sub-agent's checkpoint. Missing once it has finished. */
      readonly checkpoint?: Checkpoint | undefined
    }
  | {
      /** A middleware paused the run before its loop. It had begun with what those further out had edited. */
      readonly kind: 'early'
      /** Number of middleware further out. */
      readonly depth: number
      /** Input of the run. */
      readonly messages: readonly Message[]
      /** Instructions, if they were changed. */
      readonly instructions?: string | undefined
      /** Model options, if they were changed: those that are JSON. */
      readonly options?: object | undefined
      /** Changes to the tools. */
      readonly tools: RunToolsSnapshot
      /** Iterations that were allowed beyond the limit. */
      readonly moreIterations: number
    }
  | {
      /** The loop ended. */
      readonly kind: 'end'
      /** Its response. */
      readonly response: AgentResponse
    }
  | CheckpointState

/** Last step of a checkpoint: state of the run besides its conversation. */
export interface CheckpointState {
  readonly kind: 'state'
  /** Id of the checkpoint. */
  readonly id: string
  /** Id of the run. */
  readonly runId: string
  /** Name of the agent. Only an agent with this name resumes the run. */
  readonly agentName?: string | undefined
  /** Tenant of the run. It is resumed for this one only. */
  readonly tenant?: string | undefined
  /** User of the run. It is resumed for this one only. */
  readonly principal?: string | undefined
  /** Id of the run's session. */
  readonly sessionId?: string | undefined
  /** True if the run paused here, false if it only saved a step. */
  readonly paused: boolean
  /** Requests that the run waits for. */
  readonly pending: readonly PendingRequest[]
  /** Iterations that middleware has allowed beyond the limit. @default 0 */
  readonly moreIterations?: number | undefined
  /** Tokens used so far. */
  readonly usage: Usage
  /** Recorded attempts of model calls so far. */
  readonly attempts: readonly Attempt[]
  /** Values of the run's state cells that have a schema, by name. */
  readonly cells: Readonly<Record<string, unknown>>
  /** Changes of the run to its tools. */
  readonly tools?: RunToolsSnapshot | undefined
  /** Requested stop. */
  readonly stopped?: Stop | undefined
}

/**
 * A paused run as JSON. Anyone who can change it controls the run: store it out of the user's reach, or
 * let the agent `sign` it.
 */
export interface Checkpoint {
  readonly version: 1
  /** The input of the run. */
  readonly input: readonly Message[]
  /** Finished steps of the run, the first one first. */
  readonly journal: readonly JournalStep[]
  /**
   * HMAC of the other fields with the agent's `sign` key, as base64. Without a key, a checksum,
   * which detects damage but not forgery.
   */
  readonly signature: string
}

import type { AgentResponse, Block, Message, PendingRequest, Usage } from '@lamella/core'

/**
 * State of a run. `queued` also means that it continues soon: after a failure, a resume or a shutdown.
 */
export type RunState = 'queued' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled'

/** Owner of a run. A run of another owner counts as missing; omitted fields are not checked. */
export interface RunOwner {
  /** Tenant that the run was added for. */
  readonly tenant?: string | undefined
  /** User that the run was added for. */
  readonly principal?: string | undefined
}

/** Request for a run. JSON. */
export interface RunRequest extends RunOwner {
  /** The name of the agent, as the worker knows it. */
  readonly agent: string
  /** Input of the run. */
  readonly input: string | readonly Message[]
  /**
   * Id of the run. Adding a run twice is the same as adding it once.
   * @default a new one
   */
  readonly runId?: string | undefined
  /** Runs of one session run one after another. */
  readonly sessionId?: string | undefined
  /** Data for middleware and tools, as `run.data`. */
  readonly data?: unknown
}

/** End of a run, or the reason for its pause. */
export interface RunOutcome {
  /** Id of the run. */
  readonly runId: string
  /** Kind of the outcome. */
  readonly event: 'run.completed' | 'run.paused' | 'run.failed' | 'run.cancelled'
  /**
   * Status of the response; or `guardrail_tripped`, `budget_exhausted`, `agent_crashed`,
   * `cancelled`.
   */
  readonly status:
    | Exclude<AgentResponse['status'], 'blocked'>
    | 'guardrail_tripped'
    | 'agent_crashed'
    | 'cancelled'
  /** Text for the user. */
  readonly text: string
  /** Messages of the response. */
  readonly messages: readonly Message[]
  /** Usage of the run. */
  readonly usage: Usage
  /** Requests that a paused run waits for. */
  readonly pending: readonly PendingRequest[]
  /** Structured output of the response. */
  readonly value?: unknown
  /** Reason of the status, as the response has it. */
  readonly reason?: string | undefined
  /** Facts about a block by a guardrail. */
  readonly block?: Block | undefined
  /**
   * Error of a crash. Only errors of Lamella have a message, because it contains no text of users.
   */
  readonly error?:
    | {
        /** Name of the error. */
        readonly name: string
        /** Code of the error, if it has one. */
        readonly code?: string | undefined
        /** Message of the error, for errors of Lamella only. */
        readonly message?: string | undefined
      }
    | undefined
}

/** One run, as the queue knows it. */
export interface RunRecord extends RunOwner {
  /** Id of the run. */
  readonly runId: string
  /** Name of the agent, as the worker knows it. */
  readonly agent: string
  /** State of the run. */
  readonly state: RunState
  /** Number of times that a worker has started it. */
  readonly deliveries: number
  /** Latest outcome of the run. */
  readonly outcome?: RunOutcome | undefined
}

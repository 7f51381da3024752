import type { AgentResponse, Block, Message, PendingRequest, Usage } from '@lamella/core'

/** Where a run stands. `queued` also means that it goes on soon: after a failure, a resume, a shutdown. */
export type RunState = 'queued' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled'

/** What a run is asked to do. JSON. */
export interface RunRequest {
  /** The name of the agent, as the worker knows it. */
  readonly agent: string
  readonly input: string | readonly Message[]
  /** @default a new one. Adding a run twice is the same as adding it once. */
  readonly runId?: string | undefined
  /** Runs of one session run one after another. */
  readonly sessionId?: string | undefined
  readonly tenant?: string | undefined
  /** For layers and tools, as `run.data`. */
  readonly data?: unknown
}

/** How a run ended, or why it waits. */
export interface RunOutcome {
  readonly runId: string
  readonly event: 'run.completed' | 'run.paused' | 'run.failed' | 'run.cancelled'
  /** Of the response; or `guardrail_tripped`, `budget_exhausted`, `agent_crashed`, `cancelled`. */
  readonly status:
    | Exclude<AgentResponse['status'], 'blocked'>
    | 'guardrail_tripped'
    | 'agent_crashed'
    | 'cancelled'
  /** What the user may read. */
  readonly text: string
  readonly messages: readonly Message[]
  readonly usage: Usage
  readonly pending: readonly PendingRequest[]
  readonly value?: unknown
  readonly reason?: string | undefined
  readonly block?: Block | undefined
  /** Of a crash. The message is there only for errors of Lamella, which hold no text of users. */
  readonly error?:
    | {
        readonly name: string
        readonly code?: string | undefined
        readonly message?: string | undefined
      }
    | undefined
}

/** One run, as the queue knows it. */
export interface RunRecord {
  readonly runId: string
  readonly agent: string
  readonly state: RunState
  /** How often a worker has begun to work on it. */
  readonly deliveries: number
  readonly outcome?: RunOutcome | undefined
}

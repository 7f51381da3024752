import type { Schema } from '../base/standard-schema.ts'

/** Event of a run, for the caller. */
export interface RunEvent {
  /** Kind of event. */
  readonly type: string
  /** Data of the event, JSON. */
  readonly data?: unknown
  /** Id of the run that emitted it. */
  readonly runId: string
  /** Sends the event to clients too, for example with `toSSE(stream)`. @default false */
  readonly public?: boolean | undefined
  /** Id of a request, for `stream.respond`. Undefined for events that need no answer. */
  readonly id?: string | undefined
}

/** An event to emit. */
export interface RunEventInit {
  /** Names the kind of event. */
  readonly type: string
  /** Data of the event, JSON. */
  readonly data?: unknown
  /** Sends the event to clients too, for example with `toSSE(stream)`. @default false */
  readonly public?: boolean | undefined
}

/** Request for an answer from the caller. */
export interface RunRequestInit<Value = unknown> extends RunEventInit {
  /** Schema that validates the answer. @default anything */
  readonly schema?: Schema<Value> | undefined
  /** Time limit for the answer in milliseconds. @default 300000 */
  readonly timeoutMs?: number | undefined
}

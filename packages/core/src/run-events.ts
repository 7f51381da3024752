import type { Schema } from './standard-schema.ts'

/** Something that happened in a run, for the caller. */
export interface RunEvent {
  readonly type: string
  readonly data?: unknown
  readonly runId: string
  /** Present where an answer is awaited: pass it to `stream.respond`. */
  readonly id?: string | undefined
}

export interface RunEventInit {
  readonly type: string
  readonly data?: unknown
}

export interface RunRequestInit<Value = unknown> extends RunEventInit {
  /** The answer must fit it. */
  readonly schema?: Schema<Value> | undefined
  /** @default 300000 */
  readonly timeoutMs?: number | undefined
}

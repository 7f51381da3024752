/** Facts about a failure that a client may read. */
export interface HttpFailureOptions {
  /** HTTP status. */
  readonly status: number
  /** Stable code. */
  readonly code: string
  /** Milliseconds after which the client may try again. @default unknown */
  readonly retryAfterMs?: number | undefined
  /** Original error. It never leaves the server. */
  readonly cause?: unknown
}

/** A refused request or a failed run: a status and a code for the client. */
export class HttpFailure extends Error {
  /** Stable code. */
  readonly code: string
  /** HTTP status. */
  readonly status: number
  /** Milliseconds after which the client may try again. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, { status, code, retryAfterMs, cause }: HttpFailureOptions) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.retryAfterMs = retryAfterMs
  }

  /** Headers that go with the status. */
  headers(): Record<string, string> {
    if (this.retryAfterMs === undefined) return {}
    return { 'retry-after': String(Math.max(1, Math.ceil(this.retryAfterMs / 1000))) }
  }
}

/** Codes of errors that core throws. Other packages add their own. */
export type ErrorCode =
  | 'aborted'
  | 'approval_invalid'
  | 'approval_used'
  | 'budget_exhausted'
  | 'checkpoint_invalid'
  | 'guardrail_tripped'
  | 'hook_failed'
  | 'invalid_input'
  | 'middleware_contract'
  | 'middleware_termination'
  | 'provider_error'
  | 'run_failed'
  | 'schema_invalid'
  | 'stream_consumed'
  | 'stream_restarted'
  | 'tool_error'
  | 'tool_conflict'
  | 'unknown_tool'
  | 'untrusted_input'
  | (string & {})

/** Options of `new LamellaError`. */
export interface LamellaErrorOptions {
  /** Stable code of the error. */
  readonly code: ErrorCode
  /** Original error. */
  readonly cause?: unknown
}

/**
 * Base of every error that Lamella throws. It is recognized by a brand and its `code`, so that two
 * installed copies of core recognize each other's errors: use `LamellaError.is`, not `instanceof`.
 */
export class LamellaError extends Error {
  /** Stable code for programs to branch on. */
  readonly code: ErrorCode

  constructor(message: string, options: LamellaErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = options.code
  }

  override get name(): string {
    return 'LamellaError'
  }

  /** Brand by which two installed copies of core recognize each other's errors. */
  get '~lamella'(): string {
    return 'error'
  }

  /**
   * Returns true if `error` is a `LamellaError`, from this copy of core or another, with this code
   * if one is given.
   */
  static is(error: unknown, code?: ErrorCode): error is LamellaError {
    try {
      const { '~lamella': brand, code: own } = error as { '~lamella'?: unknown; code?: unknown }
      return typeof brand === 'string' && (code === undefined || own === code)
    } catch {
      // Whatever it is, it is not ours.
      return false
    }
  }
}

/** Returns the message of any thrown value. Never throws. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error)
  } catch {
    return 'an error without a message'
  }
}

/** Returns true for the error of an aborted wait, from Lamella or the platform. */
export function isAbort(error: unknown): boolean {
  return (
    LamellaError.is(error, 'aborted') ||
    (error as { name?: unknown } | null | undefined)?.name === 'AbortError'
  )
}

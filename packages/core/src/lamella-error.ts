/** Codes of the errors that core raises. Other packages add theirs. */
export type ErrorCode =
  | 'aborted'
  | 'approval_invalid'
  | 'budget_exhausted'
  | 'checkpoint_invalid'
  | 'guardrail_tripped'
  | 'hook_failed'
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
  | (string & {})

export interface LamellaErrorOptions {
  readonly code: ErrorCode
  readonly cause?: unknown
}

/**
 * The base of every error that Lamella raises. It is recognised by a brand and its `code`, so that
 * two installed copies of core know each other's errors: use `LamellaError.is`, not `instanceof`.
 */
export class LamellaError extends Error {
  /** Stable: programs may branch on it. */
  readonly code: ErrorCode

  constructor(message: string, options: LamellaErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = options.code
  }

  override get name(): string {
    return 'LamellaError'
  }

  get '~lamella'(): string {
    return 'error'
  }

  /** Whether `error` comes from Lamella, of this copy or another, and has this code if one is given. */
  static is(error: unknown, code?: ErrorCode): error is LamellaError {
    return (
      typeof error === 'object' &&
      error !== null &&
      typeof (error as { '~lamella'?: unknown })['~lamella'] === 'string' &&
      (code === undefined || (error as LamellaError).code === code)
    )
  }
}

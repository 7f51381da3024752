import { LamellaError } from '../base/lamella-error.ts'
import type { FunctionError } from '../messages/content.ts'

/**
 * Thrown by a tool, or by a middleware around it, to fail the call and not the run. Unlike with other
 * errors, the model reads the message.
 */
export class ToolError extends LamellaError {
  /** Error code of the tool result. `tool_failed` by default. */
  readonly reason: FunctionError['code']

  constructor(
    message: string,
    options: { readonly reason?: FunctionError['code'] | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, { code: 'tool_error', cause: options.cause })
    this.reason = options.reason ?? 'tool_failed'
  }

  override get name(): string {
    return 'ToolError'
  }
}

/** Returns true if `error` is a `ToolError`, from this copy of core or another. */
export function isToolError(error: unknown): error is ToolError {
  return LamellaError.is(error, 'tool_error')
}

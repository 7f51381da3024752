import type { FunctionError } from './content.ts'
import { LamellaError } from './lamella-error.ts'

/**
 * Thrown by a tool, or by a layer around it, to fail the call and not the run. Unlike with other
 * errors, the model reads the message.
 */
export class ToolError extends LamellaError {
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

/** Whether `error` is a `ToolError`, of this copy of core or another. */
export function isToolError(error: unknown): error is ToolError {
  return LamellaError.is(error, 'tool_error')
}

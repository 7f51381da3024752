import { LamellaError } from '@lamella/core'

/**
 * Thrown when a middleware ends the call without an answer, such as an exhausted budget. `code` and
 * `cause` are those of the termination.
 */
export class LamellaTermination extends LamellaError {
  override get name(): string {
    return 'AI_LamellaTermination'
  }
}

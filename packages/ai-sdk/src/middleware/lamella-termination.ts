import { LamellaError } from '@lamella/core'

/**
 * A middleware ended the call without an answer, such as a budget that is used up. `code` and `cause` are
 * those of the termination.
 */
export class LamellaTermination extends LamellaError {
  override get name(): string {
    return 'AI_LamellaTermination'
  }
}

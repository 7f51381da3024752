import { LamellaError } from '@lamella/core'

/** Thrown when `rejectReply` accepted no reply. Its code is `reply_rejected`. */
export class ReplyRejectedError extends LamellaError {
  /** Reason of the last rejection. */
  readonly reason: string
  /** Number of model calls made. */
  readonly tries: number

  constructor(middleware: string, reason: string, tries: number) {
    const times = tries === 1 ? 'once' : `${tries} times`
    super(`${middleware}: the reply was rejected (${reason}); the model was asked ${times}`, {
      code: 'reply_rejected',
    })
    this.reason = reason
    this.tries = tries
  }

  override get name(): string {
    return 'ReplyRejectedError'
  }
}

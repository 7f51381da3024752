import { LamellaError } from '@lamella/core'

/** No try gave a reply that `rejectReply` accepts. Its code is `reply_rejected`. */
export class ReplyRejectedError extends LamellaError {
  /** What the last reply was rejected for. */
  readonly reason: string
  /** How often the model was asked. */
  readonly tries: number

  constructor(layer: string, reason: string, tries: number) {
    const times = tries === 1 ? 'once' : `${tries} times`
    super(`${layer}: the reply was rejected (${reason}); the model was asked ${times}`, {
      code: 'reply_rejected',
    })
    this.reason = reason
    this.tries = tries
  }

  override get name(): string {
    return 'ReplyRejectedError'
  }
}

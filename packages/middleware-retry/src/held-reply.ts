import type { ChatResponse, ChatResponseUpdate, UpdateTransformer } from '@lamella/core'
import { foldUpdates } from '@lamella/core'

/** Holds back a streamed reply until it is judged. */
export interface HeldReply<Verdict> extends UpdateTransformer<ChatResponseUpdate> {
  /** The rejected reply and its verdict. No update of it was released. */
  readonly rejected: { readonly response: ChatResponse; readonly verdict: Verdict } | undefined
}

/** Releases a streamed reply once `judge` accepts it by returning `undefined`. */
export function heldReply<Verdict>(
  judge: (response: ChatResponse) => Promise<Verdict | undefined>,
): HeldReply<Verdict> {
  let held: ChatResponseUpdate[] = []
  let rejected: HeldReply<Verdict>['rejected']
  return {
    get rejected() {
      return rejected
    },
    start() {
      held = []
      rejected = undefined
    },
    transform(update) {
      held.push(update)
    },
    async flush(controller) {
      const response = foldUpdates(held)
      const verdict = await judge(response)
      if (verdict === undefined) {
        for (const update of held) controller.enqueue(update)
      } else {
        rejected = { response, verdict }
        // The run and middlewares further in still count its usage.
        controller.enqueue({ contents: [], usage: response.usage })
      }
      held = []
    },
  }
}

import type { ChatResponse, ChatResponseUpdate, UpdateTransformer } from '@lamella/core'
import { foldUpdates } from '@lamella/core'

/** A streamed reply, kept back whole until it is judged. */
export interface HeldReply<Verdict> extends UpdateTransformer<ChatResponseUpdate> {
  /** What was held, if it was rejected: none of it has been let go. */
  readonly rejected: { readonly response: ChatResponse; readonly verdict: Verdict } | undefined
}

/** Lets a streamed reply go when `judge` has nothing against it. */
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
        // Layers further in, and the run, are to know what it cost.
        controller.enqueue({ contents: [], usage: response.usage })
      }
      held = []
    },
  }
}

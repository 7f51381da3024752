import type { ChatResponseUpdate } from '../messages/chat-response.ts'
import type { UpdateTransformer } from '../stream/update-transformer.ts'

/**
 * Holds updates without content back until the first one with content. A middleware that calls
 * again before content was released has then sent nothing of the failed call.
 */
export function holdPreamble(): UpdateTransformer<ChatResponseUpdate> {
  let held: ChatResponseUpdate[] | undefined
  return {
    start() {
      held = []
    },
    transform(update, controller) {
      if (held !== undefined) {
        if (update.contents.length === 0) {
          held.push(update)
          return
        }
        for (const early of held) controller.enqueue(early)
        held = undefined
      }
      controller.enqueue(update)
    },
    flush(controller) {
      for (const early of held ?? []) controller.enqueue(early)
    },
  }
}

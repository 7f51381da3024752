import type { ChatContext, ChatResponse } from '@lamella/core'
import { canonicalJson, ResponseFold } from '@lamella/core/authoring'

/**
 * Looks at an answer as it passes this layer, to tell later whether layers further out have changed it:
 * taken something out of it, or put something of this caller's into it.
 */
export function watchChanges(context: ChatContext): (response: ChatResponse) => boolean {
  let passed = new ResponseFold()
  context.transformUpdates({
    start() {
      passed = new ResponseFold()
    },
    transform(update, controller) {
      passed.add(update)
      controller.enqueue(update)
    },
  })
  return (response) => contentsOf(passed.response()) !== contentsOf(response)
}

function contentsOf({ messages }: ChatResponse): string {
  return canonicalJson(messages.map(({ role, contents }) => [role, contents]))
}

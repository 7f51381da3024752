import type { ChatContext, ChatResponse } from '@lamella/core'
import { canonicalJson, ResponseFold } from '@lamella/core/authoring'

/**
 * Records an answer as it passes this middleware, to tell later whether middleware further out changed
 * it: removed something, or added something of this caller's.
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

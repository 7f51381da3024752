import type { FunctionCallContent } from './content.ts'
import type { Message } from './message.ts'

/** Calls that this process is to act on: not informational, and without a result among `messages`. */
export function openCalls(messages: readonly Message[]): readonly FunctionCallContent[] {
  let calls: FunctionCallContent[] | undefined
  let answered: Set<string> | undefined
  for (const { contents } of messages) {
    for (const content of contents) {
      if (content.type === 'function-call') {
        if (content.informational !== true) (calls ??= []).push(content)
      } else if (content.type === 'function-result') {
        ;(answered ??= new Set()).add(content.callId)
      }
    }
  }
  if (calls === undefined) return none
  return answered === undefined ? calls : calls.filter(({ callId }) => !answered.has(callId))
}

const none: readonly FunctionCallContent[] = Object.freeze([])

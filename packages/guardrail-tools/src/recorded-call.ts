import type { ApprovalRequestContent, RunContext } from '@lamella/core'

/** The arguments of a call as the model wrote them; its text where that is no JSON. */
export function recordedArguments({ messages }: RunContext, callId: string): unknown {
  for (const { contents } of messages.all.toReversed()) {
    for (const content of contents) {
      if (content.type !== 'function-call' || content.callId !== callId) continue
      try {
        return JSON.parse(content.arguments)
      } catch {
        return content.arguments
      }
    }
  }
  return undefined
}

/** What a person was asked about a call. */
export function approvalRequest(
  { messages }: RunContext,
  callId: string,
): ApprovalRequestContent | undefined {
  return messages.all
    .flatMap(({ contents }) => contents)
    .findLast(
      (content): content is ApprovalRequestContent =>
        content.type === 'approval-request' && content.call.callId === callId,
    )
}

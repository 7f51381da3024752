import type { ApprovalRequestContent, FunctionCallContent, RunContext } from '@lamella/core'

/** The last call of an id. */
export function recordedCall(
  { messages }: RunContext,
  callId: string,
): FunctionCallContent | undefined {
  return messages.all
    .flatMap(({ contents }) => contents)
    .findLast(
      (content): content is FunctionCallContent =>
        content.type === 'function-call' && content.callId === callId,
    )
}

/** The arguments of a call as the model wrote them; their text where that is no JSON. */
export function writtenArguments({ arguments: text }: FunctionCallContent): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
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

import type {
  ApprovalRequestContent,
  Content,
  FunctionCallContent,
  RunContext,
} from '@lamella/core'

/** The last call of an id. */
export function recordedCall(run: RunContext, callId: string): FunctionCallContent | undefined {
  return lastContent(
    run,
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
  run: RunContext,
  callId: string,
): ApprovalRequestContent | undefined {
  return lastContent(
    run,
    (content): content is ApprovalRequestContent =>
      content.type === 'approval-request' && content.call.callId === callId,
  )
}

/** Searched from the end: a conversation may be long, and what is looked for was just said. */
function lastContent<Wanted extends Content>(
  { messages: { all } }: RunContext,
  isWanted: (content: Content) => content is Wanted,
): Wanted | undefined {
  for (let at = all.length - 1; at >= 0; at--) {
    const found = all[at]!.contents.findLast(isWanted)
    if (found !== undefined) return found
  }
  return undefined
}

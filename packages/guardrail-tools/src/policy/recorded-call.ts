import type { Content, FunctionCallContent, RunContext } from '@lamella/core'

type ApprovalRequestContent = Extract<Content, { readonly type: 'approval-request' }>

/** Returns the last tool call with an id. */
export function recordedCall(run: RunContext, callId: string): FunctionCallContent | undefined {
  return lastContent(
    run,
    (content): content is FunctionCallContent =>
      content.type === 'function-call' && content.callId === callId,
  )
}

/** Returns the arguments as the model wrote them; their text if it is not JSON. */
export function writtenArguments({ arguments: text }: FunctionCallContent): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Returns the approval request of a tool call. */
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

/** Searches from the end: the conversation may be long, and the content is recent. */
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

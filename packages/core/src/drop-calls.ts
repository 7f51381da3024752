import type { AgentResponseUpdate } from './agent-response.ts'
import type { Content } from './content.ts'
import { createId } from './create-id.ts'
import type { UpdateTransformer } from './update-transformer.ts'

/**
 * Enforces `toolChoice: 'none'`: calls that this process would have to run are dropped, whatever
 * the provider sent. If nothing that a person can see is left, `fallbackText` takes its place.
 */
export function dropCalls(
  fallbackText: string | undefined,
): UpdateTransformer<AgentResponseUpdate> {
  let visible = false
  let dropped = false
  let messageId: string | undefined
  return {
    start() {
      visible = dropped = false
      messageId = undefined
    },
    transform(update, controller) {
      messageId = update.messageId ?? messageId
      const kept = update.contents.filter((content) => !isLocal(content))
      if (kept.length < update.contents.length) dropped = true
      if (!visible) visible = kept.some(isVisible)
      if (kept.length === update.contents.length) controller.enqueue(finish(update, dropped))
      else if (kept.length > 0 || hasMore(update))
        controller.enqueue(finish({ ...update, contents: kept }, dropped))
    },
    flush(controller) {
      if (visible || fallbackText === undefined) return
      controller.enqueue({
        contents: [{ type: 'text', text: fallbackText }],
        role: 'assistant',
        messageId: messageId ?? createId('msg'),
      })
    },
  }
}

function finish(update: AgentResponseUpdate, dropped: boolean): AgentResponseUpdate {
  return dropped && update.finishReason === 'tool-calls'
    ? { ...update, finishReason: 'stop' }
    : update
}

function hasMore({
  finishReason,
  usage,
  event,
  model,
  responseId,
  conversationId,
}: AgentResponseUpdate): boolean {
  return [finishReason, usage, event, model, responseId, conversationId].some(
    (field) => field !== undefined,
  )
}

function isLocal(content: Content): boolean {
  if (content.type === 'function-call') return content.informational !== true
  return content.type === 'approval-request' && content.hosted !== true
}

function isVisible(content: Content): boolean {
  switch (content.type) {
    case 'text':
    case 'refusal':
      return content.text.trim() !== ''
    case 'data':
    case 'uri':
    case 'error':
      return true
    case 'approval-request':
      return content.hosted === true
    case 'hosted':
      return content.name === 'file'
    default:
      return false
  }
}

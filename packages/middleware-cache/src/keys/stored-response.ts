import type { ChatResponse, ChatResponseInit, Message, Usage } from '@lamella/core'
import { createId } from '@lamella/core'
import { isJson, jsonCopy } from '@lamella/core/authoring'

/** Part of an answer that is stored: nothing of the SDK's, nothing without JSON. */
export type StoredResponse = Pick<
  ChatResponse,
  'id' | 'messages' | 'usage' | 'finishReason' | 'model' | 'conversationId' | 'metadata'
> & { readonly value?: unknown }

export function storeResponse(response: ChatResponse): StoredResponse {
  const { id, messages, usage, finishReason, model, conversationId, value } = response
  const metadata = Object.entries(response.metadata).filter(
    ([key, item]) => !passing.has(key) && isJson(item),
  )
  return jsonCopy({
    id,
    messages,
    usage,
    finishReason,
    model,
    conversationId,
    metadata: Object.fromEntries(metadata),
    ...(value !== undefined && { value }),
  })
}

export function isStoredResponse(value: unknown): value is StoredResponse {
  const { messages, metadata, usage } = (value ?? {}) as Partial<StoredResponse>
  return (
    Array.isArray(messages) &&
    messages.length > 0 &&
    messages.every(
      (message: Partial<Message> | null) =>
        typeof message?.role === 'string' && Array.isArray(message.contents),
    ) &&
    typeof metadata === 'object' &&
    typeof usage === 'object'
  )
}

/**
 * Makes the stored answer a new response: its usage is zero, and its messages can follow an earlier
 * hit's.
 */
export function replayResponse(stored: StoredResponse): ChatResponseInit {
  return {
    ...stored,
    messages: stored.messages.map((message) => ({ ...message, id: createId('msg') })),
    usage: noUsage,
  }
}

/** Metadata about one call, which is wrong for a later one. */
const passing: ReadonlySet<string> = new Set(['cache', 'rateLimit'])

const noUsage: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0, totalTokens: 0 })

import type { ChatResponse, ChatResponseInit, Message, Usage } from '@lamella/core'
import { createId } from '@lamella/core'
import { jsonCopy } from '@lamella/core/authoring'
import { isJson } from './is-json.ts'

/** What is kept of an answer: nothing of the SDK's, nothing that JSON cannot hold. */
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

/** The answer anew: it costs nothing, and its messages may stand beside those of an earlier hit. */
export function replayResponse(stored: StoredResponse): ChatResponseInit {
  return {
    ...stored,
    messages: stored.messages.map((message) => ({ ...message, id: createId('msg') })),
    usage: noUsage,
  }
}

/** What was said about one call, and is not true of a later one. */
const passing: ReadonlySet<string> = new Set(['cache', 'rateLimit'])

const noUsage: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0, totalTokens: 0 })

import type { ChatResponse, Message, ResponseFormat, RunContext, Usage } from '@lamella/core'
import type { ChatResponseInit } from '@lamella/core/authoring'
import { isJson, jsonCopy } from '@lamella/core/authoring'

/** Part of an answer that is stored: nothing of the SDK's, nothing without JSON. */
export type StoredResponse = Pick<
  ChatResponse,
  'messages' | 'usage' | 'finishReason' | 'model' | 'conversationId' | 'metadata'
> & { readonly value?: unknown }

/** `format` is that of the call: a hit reads the value by the schema of its own call. */
export function storeResponse(
  response: ChatResponse,
  format: ResponseFormat | undefined,
): StoredResponse {
  const { messages, usage, finishReason, model, conversationId, value } = response
  const metadata = Object.entries(response.metadata).filter(
    ([key, item]) => !passing.has(key) && isJson(item),
  )
  return jsonCopy({
    messages,
    usage,
    finishReason,
    model,
    conversationId,
    metadata: Object.fromEntries(metadata),
    ...(value !== undefined && typeof format !== 'object' && { value }),
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
 * Makes the stored answer a new response: with ids of its own, so that it can follow an earlier hit in one
 * conversation and in one log, and without usage.
 */
export function replayResponse(
  stored: StoredResponse,
  { createId }: RunContext['ids'],
): ChatResponseInit {
  return {
    ...stored,
    id: createId('resp'),
    messages: stored.messages.map((message) => ({ ...message, id: createId('msg') })),
    usage: noUsage,
  }
}

/** Metadata about one call, which is wrong for a later one. */
const passing: ReadonlySet<string> = new Set(['cache', 'rateLimit'])

const noUsage: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0, totalTokens: 0 })

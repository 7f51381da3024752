import type { ChatClient, ChatRequest, ContinuationReport } from '../contract/chat.ts'
import type { ClientMiddlewareInput } from '../contract/middleware.ts'
import type { ChatResponse, ChatResponseUpdate } from '../messages/chat-response.ts'
import type { Message } from '../messages/message.ts'
import { BaseChatClient } from './base-chat-client.ts'

/**
 * The same client with middleware around every call, for use with or without an agent. Its
 * existing middleware is inside the new one.
 */
export function withMiddleware(
  client: ChatClient,
  ...middleware: readonly ClientMiddlewareInput[]
): ChatClient {
  return new ClientWithMiddleware(client, [...middleware, ...client.middleware])
}

class ClientWithMiddleware extends BaseChatClient {
  readonly provider: string
  readonly fingerprint: string | undefined
  readonly #inner: ChatClient

  constructor(inner: ChatClient, middleware: ClientMiddlewareInput) {
    super({ name: inner.name, model: inner.model, middleware })
    this.provider = inner.provider
    this.fingerprint = inner.fingerprint
    this.#inner = inner
  }

  respond(request: ChatRequest): Promise<ChatResponse> {
    return this.#inner.respond(request)
  }

  stream(request: ChatRequest): AsyncIterable<ChatResponseUpdate> {
    return this.#inner.stream(request)
  }

  prepareHistory(messages: readonly Message[]): readonly Message[] {
    return this.#inner.prepareHistory?.(messages) ?? messages
  }

  canContinue(messages: readonly Message[]): ContinuationReport {
    return this.#inner.canContinue?.(messages) ?? { ok: true, losses: [] }
  }
}

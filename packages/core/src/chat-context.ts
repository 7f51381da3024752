import type { ChatClient } from './chat-client.ts'
import type { ChatOptions } from './chat-options.ts'
import type { ChatResponse, ChatResponseInit, ChatResponseUpdate } from './chat-response.ts'
import type { Message } from './message.ts'
import type { RunContext } from './run-context.ts'
import type { UpdateTransformer } from './update-transformer.ts'

/**
 * One model call. What a layer assigns to the fields that are not `readonly` is seen by the layers
 * inside it, and by nobody else.
 */
export interface ChatContext {
  readonly run: RunContext
  /** A free bag of this call, shared by its layers. */
  readonly metadata: Record<string, unknown>
  /**
   * Aborted when the run ends early. A layer that may give up on a call, such as a timeout, puts one
   * of its own in place (`AbortSignal.any([context.signal, own])`), so that the request ends too.
   */
  signal: AbortSignal
  /** Whether the caller asked for a stream. No layer needs to know. */
  readonly stream: boolean
  /** 0 for the first model call of the run. */
  readonly iteration: number
  /** Whether content of this call has reached the caller. */
  readonly released: boolean
  /** Whether somebody waits for more of this call: not while the reader of a stream is busy otherwise. */
  readonly awaited: boolean
  client: ChatClient
  messages: readonly Message[]
  instructions: string | undefined
  options: ChatOptions
  get result(): ChatResponse | undefined
  set result(value: ChatResponse | ChatResponseInit | string | undefined)
  /** Registers what to do to this call's updates as they pass. Before `callNext()` only. */
  transformUpdates(transformer: UpdateTransformer<ChatResponseUpdate>): void
  /**
   * Makes this call once more as a call of its own: through all layers, from what the outermost one
   * was given, with `options` laid over. This run learns nothing of it, neither updates nor usage,
   * and its end does not end it; `signal` does. For a layer that refreshes what it keeps.
   */
  repeat(options?: ChatOptions, signal?: AbortSignal): Promise<ChatResponse>
}

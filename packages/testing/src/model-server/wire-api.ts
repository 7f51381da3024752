import type { ModelAnswer, ModelConversation, ModelUsage } from './model-conversation.ts'

/** Name of the model in everything that this server sends. */
export const standInModel = 'lamella-stand-in'

/** A JSON object as it came or as it goes over the wire. */
export type WireObject = Readonly<Record<string, unknown>>

/** An answer with what one exchange adds to it. */
export interface WireReply {
  readonly answer: ModelAnswer
  readonly usage: ModelUsage
  readonly request: WireObject
  /** The same conversation gives the same calls; no two exchanges have the same response. */
  readonly ids: { readonly response: string; readonly conversation: string }
  /** Seconds. */
  readonly createdAt: number
  readonly chunkChars: number
}

/** One of OpenAI's protocols. */
export interface WireApi {
  /** @throws WireRejection for what the API would refuse. */
  read(body: WireObject, stored: ReadonlyMap<string, readonly unknown[]>): ModelConversation
  whole(reply: WireReply): WireObject
  /** The answer as server-sent events, each with its framing. */
  events(reply: WireReply): readonly string[]
  /** An error inside a stream, after so many events. */
  errorEvents(message: string, reply: WireReply, sent: number): readonly string[]
}

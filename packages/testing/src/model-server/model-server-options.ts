import type { ModelAnswer, ModelConversation } from './model-conversation.ts'
import type { ModelServerFailure } from './model-server-failure.ts'
import type { ModelServerRequest } from './model-server-request.ts'

/** Options of `startModelServer`. */
export interface ModelServerOptions {
  /**
   * Port on 127.0.0.1.
   * @default 0: a free one
   */
  readonly port?: number | undefined
  /**
   * Failures in the order of requests. Requests without an entry are answered.
   * @default none
   */
  readonly failures?:
    | readonly (ModelServerFailure | undefined)[]
    | ((request: ModelServerRequest) => ModelServerFailure | undefined)
    | undefined
  /**
   * Milliseconds before an answer begins.
   * @default 0
   */
  readonly latencyMs?: number | undefined
  /**
   * Milliseconds between the events of a stream.
   * @default 0
   */
  readonly chunkDelayMs?: number | undefined
  /**
   * Characters of text or arguments in one event.
   * @default 12
   */
  readonly chunkChars?: number | undefined
  /**
   * Bytes in one write to the socket, to split events and characters anywhere.
   * @default one event
   * per write
   */
  readonly writeBytes?: number | undefined
  /**
   * The only accepted key; other requests get status 401. @default every request is accepted
   */
  readonly apiKey?: string | undefined
  /** Called for each request before it is answered. */
  readonly onRequest?: ((request: ModelServerRequest) => void) | undefined
  /**
   * Computes the answers.
   * @default calls the first tool that shares a word with the question, and reports its result
   */
  readonly answer?:
    | ((
        conversation: ModelConversation,
        request: ModelServerRequest,
      ) => ModelAnswer | Promise<ModelAnswer>)
    | undefined
}

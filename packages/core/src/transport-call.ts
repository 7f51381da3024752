import type { ChatResponse } from './chat-response.ts'
import type { WireObject } from './wire.ts'

/** One request over HTTP, as its provider sends it and explains its failures. */
export interface TransportCall {
  /** Sends the request and resolves when the answer's headers are there. */
  readonly open: (signal: AbortSignal) => Promise<Response>
  readonly signal: AbortSignal
  /** What JSON that is none of the API's answers reports as a failure, or `undefined`. */
  readonly reportIn: (body: WireObject) => unknown
  /**
   * The error to reject with. `cause` is a `TransportFault`, an `InBandFailure`, or what `open`, the
   * connection or the mapper raised.
   */
  readonly toError: (cause: unknown, known: KnownOfFailure) => unknown
}

/** What is known of a call when it fails. */
export interface KnownOfFailure {
  /** What had arrived of a stream, if anything had. */
  readonly partial?: ChatResponse | undefined
  /** Of an answer that had begun. */
  readonly headers?: Headers | undefined
}

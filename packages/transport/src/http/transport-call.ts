import type { ChatResponse } from '@lamella/core'
import type { WireObject } from '../wire/wire.ts'

/** One request over HTTP, as its provider sends it and explains its failures. */
export interface TransportCall {
  /** Sends the request and resolves when the answer's headers are there. */
  readonly open: (signal: AbortSignal) => Promise<Response>
  /** Ends the request and its answer. */
  readonly signal: AbortSignal
  /** Returns the failure that JSON reports which is no answer of the API, or `undefined`. */
  readonly reportIn: (body: WireObject) => unknown
  /**
   * The error to reject with. `cause` is a `TransportFault`, an `InBandFailure`, or what `open`, the
   * connection or the mapper raised.
   */
  readonly toError: (cause: unknown, known: KnownOfFailure) => unknown
}

/** Facts of a call when it fails. */
export interface KnownOfFailure {
  /** The arrived part of a stream, if there is any. */
  readonly partial?: ChatResponse | undefined
  /** Of an answer that had begun. */
  readonly headers?: Headers | undefined
}

/** Failure of one request. */
export interface ModelServerFailure {
  /** Answers with this status, and with OpenAI's usual error unless `body` is set. */
  readonly status?: number | undefined
  /** Headers of the answer. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** JSON, or a text that is sent unchanged. */
  readonly body?: unknown
  /** Milliseconds before the answer begins, besides `latencyMs`. */
  readonly delayMs?: number | undefined
  /** The connection is closed without an answer. */
  readonly disconnect?: boolean | undefined
  /**
   * The connection breaks after this number of events of a stream, or in the middle of a plain
   * answer.
   */
  readonly cutAfterEvents?: number | undefined
  /** Ends the stream normally after this number of events, or a plain answer in the middle. */
  readonly endAfterEvents?: number | undefined
  /** The stream stalls after this number of events, and the connection stays open. */
  readonly stallAfterEvents?: number | undefined
  /**
   * Sends an error inside the stream after this number of events. A plain answer has status 500.
   */
  readonly errorAfterEvents?: number | undefined
}

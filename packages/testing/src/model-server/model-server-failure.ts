/** Failure of one request. */
export interface ModelServerFailure {
  /** Answers with this status, and unless `body` says otherwise, with OpenAI's usual error. */
  readonly status?: number | undefined
  /** Headers of the answer. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** JSON, or a text that is sent as it is. */
  readonly body?: unknown
  /** Milliseconds before the answer begins, besides `latencyMs`. */
  readonly delayMs?: number | undefined
  /** The connection is closed without an answer. */
  readonly disconnect?: boolean | undefined
  /** The connection breaks after so many events of a stream, or in the middle of a plain answer. */
  readonly cutAfterEvents?: number | undefined
  /** The same, but it ends as if all were well. */
  readonly endAfterEvents?: number | undefined
  /** After so many events nothing more comes, and the connection stays open. */
  readonly stallAfterEvents?: number | undefined
  /** An error follows inside the stream. A plain answer has status 500. */
  readonly errorAfterEvents?: number | undefined
}

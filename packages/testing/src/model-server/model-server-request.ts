/** A recorded request. */
export interface ModelServerRequest {
  /** Number of the request, from 0. */
  readonly index: number
  /** HTTP method. */
  readonly method: string
  /** Path with its query. */
  readonly path: string
  /** HTTP headers. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The parsed JSON, or `undefined` if there was none. */
  readonly body: unknown
  /** HTTP status of the answer, once it begins. */
  readonly status: number | undefined
  /** `left`: the client disconnected before the answer was complete. */
  readonly outcome: 'open' | 'answered' | 'cut' | 'left'
}

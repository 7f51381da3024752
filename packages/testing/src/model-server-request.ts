/** A request that the server got. */
export interface ModelServerRequest {
  /** 0 for the first. */
  readonly index: number
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The parsed JSON, or `undefined` where there was none. */
  readonly body: unknown
  /** What it was answered with, from when the answer begins. */
  readonly status: number | undefined
  /** `left`: the client went away before the answer was complete. */
  readonly outcome: 'open' | 'answered' | 'cut' | 'left'
}

import type { WireObject } from '../wire/wire.ts'

/** One request to a provider's API. */
export interface ApiRequest {
  /** HTTP method. */
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path below the address of the API, such as `/responses`. */
  readonly path: string
  /** Fields of a JSON body, or a form with files. */
  readonly body?: WireObject | FormData | undefined
  /** Ends the request, its retries and its answer. */
  readonly signal: AbortSignal
  /** Headers of this request. They override all others. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Parameters of the query. */
  readonly query?: Readonly<Record<string, string>> | undefined
  /** Milliseconds until the headers of the answer, for each attempt. @default the sender's */
  readonly timeoutMs?: number | undefined
  /** Attempts after the first one. @default the sender's */
  readonly maxRetries?: number | undefined
}

/** Sends requests to one API: an SDK, or an `HttpClient`. */
export interface RequestSender {
  /** Address of the API. */
  readonly baseURL: string
  /** Keys and tokens that errors must not repeat. */
  readonly keys: readonly string[]
  /**
   * Sends a request and resolves with an answer of a success status. Rejects with an `HttpFailure` or a
   * `TransportFault`.
   */
  send(request: ApiRequest): Promise<Response>
}

import { onAbort, systemClock, backgroundTimer } from '@lamella/core/authoring'
import { boundedFailure } from '../failures/bounded-failure.ts'
import { isUnsendable } from '../failures/network-error.ts'
import type { ApiRequest, RequestSender } from './request-sender.ts'
import { retryAfterHeaderMs } from '../failures/retry-after.ts'
import { isProviderError } from '@lamella/core'
import { HttpFailure, TransportFault } from '../failures/transport-fault.ts'

/** Function with the signature of the global `fetch`. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Options of an `HttpClient`. */
export interface HttpClientOptions {
  /** Address of the API, such as `https://api.openai.com/v1`. */
  readonly baseURL: string
  /** Key or token, or a function that is called for one before each attempt. @default none */
  readonly apiKey?: string | (() => Promise<string>) | undefined
  /** Returns the headers that carry a key. @default `authorization: Bearer` */
  readonly authorize?: ((key: string) => Readonly<Record<string, string>>) | undefined
  /** Headers of every request. They override those of `authorize`. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Parameters of every query. @default none */
  readonly query?: Readonly<Record<string, string>> | undefined
  /** Returns the path of a request, for servers that name the model in it. @default its own path */
  readonly pathOf?: ((request: ApiRequest) => string) | undefined
  /** Replaces the global `fetch`, such as for a proxy. @default the global `fetch` */
  readonly fetch?: Fetch | undefined
  /** Milliseconds until the headers of an answer, for each attempt. @default 600_000 */
  readonly timeoutMs?: number | undefined
  /** Milliseconds for the body of an error response; the rest is ignored. @default 300_000 */
  readonly bodyTimeoutMs?: number | undefined
  /** Attempts after the first one. @default 2 */
  readonly maxRetries?: number | undefined
  /** Follows redirects. A key in a header of its own would go along to another host. @default true */
  readonly followRedirects?: boolean | undefined
}

const longestWaitMs = 60_000

/**
 * Sends requests with `fetch` and retries temporary failures: no connection, no headers in time,
 * status 408, 409, 429 or 5xx, or as `x-should-retry` says. It waits as long as the answer
 * requests, otherwise half a second, doubled each time. An answer that requests more than a minute
 * fails at once.
 *
 * @example
 * ```ts
 * import { HttpClient } from '@lamella/transport'
 *
 * const http = new HttpClient({ baseURL: 'https://api.example.com/v1', apiKey: 'my-key' })
 * const models = (signal: AbortSignal) => http.send({ method: 'GET', path: '/models', signal })
 * ```
 */
export class HttpClient implements RequestSender {
  readonly #options: HttpClientOptions
  /** The key that was used last. */
  #key: string | undefined

  constructor(options: HttpClientOptions) {
    this.#options = options
    if (typeof options.apiKey === 'string') this.#key = options.apiKey
  }

  get baseURL(): string {
    return this.#options.baseURL
  }

  get keys(): readonly string[] {
    return this.#key ? [this.#key] : []
  }

  async send(request: ApiRequest): Promise<Response> {
    const { signal, body, maxRetries = this.#options.maxRetries ?? 2 } = request
    const url = this.#urlOf(request)
    const isForm = body instanceof FormData
    const content = body === undefined || isForm ? body : JSON.stringify(body)
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted()
      const headers = await this.#headersOf(request, isForm)
      const answer = await this.#attempt(
        url,
        { method: request.method, headers, body: content ?? null },
        request,
      )
      if (answer instanceof Response && answer.ok) return answer
      const waitMs = attempt < maxRetries ? waitBefore(answer, attempt) : undefined
      if (waitMs === undefined)
        throw answer instanceof Response ? await this.#failureOf(answer) : answer
      if (answer instanceof Response) void answer.body?.cancel().catch(() => undefined)
      await systemClock.sleep(waitMs, signal)
    }
  }

  /** Resolves when the headers are there, or with the reason why they are not. */
  #attempt(
    url: string,
    init: RequestInit,
    { signal, timeoutMs = this.#options.timeoutMs ?? 600_000 }: ApiRequest,
  ): Promise<Response | TransportFault> {
    const { fetch: send = (input, more) => fetch(input, more), followRedirects = true } =
      this.#options
    const transport = new AbortController()
    return new Promise((resolve, reject) => {
      // Stays until the answer is over, which an abort ends as well.
      onAbort(signal, (reason) => {
        transport.abort(reason)
        reject(reason)
      })
      const onTimeout = (): void => {
        resolve(new TransportFault('timeout', `no answer within ${timeoutMs} ms`))
        transport.abort()
      }
      const stopTimer = backgroundTimer(onTimeout, timeoutMs)
      const { signal: ended } = transport
      send(url, { ...init, signal: ended, ...(!followRedirects && { redirect: 'manual' }) })
        .then(resolve, (cause: unknown) => {
          if (isUnsendable(cause)) reject(cause)
          else resolve(new TransportFault('network', undefined, { cause }))
        })
        .finally(stopTimer)
    })
  }

  async #headersOf({ headers: own }: ApiRequest, isForm: boolean): Promise<Record<string, string>> {
    const { apiKey, authorize = bearer, headers } = this.#options
    if (typeof apiKey === 'function') this.#key = await keyFrom(apiKey)
    const all = new Headers({ accept: 'application/json' })
    if (!isForm) all.set('content-type', 'application/json')
    const parts = [this.#key === undefined ? {} : authorize(this.#key), headers, own]
    for (const part of parts) {
      for (const [name, value] of Object.entries(part ?? {})) all.set(name, value)
    }
    return Object.fromEntries(all)
  }

  #urlOf(request: ApiRequest): string {
    const { baseURL, query, pathOf } = this.#options
    const url = new URL(baseURL)
    url.pathname = url.pathname.replace(/\/+$/, '') + (pathOf?.(request) ?? request.path)
    for (const [name, value] of Object.entries({ ...query, ...request.query })) {
      url.searchParams.set(name, value)
    }
    return url.href
  }

  async #failureOf(answer: Response): Promise<HttpFailure> {
    const bounded = boundedFailure(answer, this.#options.bodyTimeoutMs ?? 300_000)
    const text = await bounded.text().catch(() => '')
    return new HttpFailure(answer.status, answer.headers, parsed(text))
  }
}

function bearer(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` }
}

async function keyFrom(ask: () => Promise<string>): Promise<string> {
  try {
    return await ask()
  } catch (error) {
    // Its message may hold secrets.
    throw isProviderError(error) ? error : new TransportFault('auth')
  }
}

/** Milliseconds before the next attempt, or `undefined` if there must be none. */
function waitBefore(answer: Response | TransportFault, attempt: number): number | undefined {
  const backoffMs = Math.min(500 * 2 ** attempt, 8_000) * (1 - Math.random() / 4)
  if (answer instanceof TransportFault) return backoffMs
  const { status, headers } = answer
  const advice = headers.get('x-should-retry')
  const isPassing = status === 408 || status === 409 || status === 429 || status >= 500
  if (advice === 'false' || (advice !== 'true' && !isPassing)) return undefined
  const askedMs = retryAfterHeaderMs(headers)
  if (askedMs === undefined) return backoffMs
  return askedMs > longestWaitMs ? undefined : askedMs
}

function parsed(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

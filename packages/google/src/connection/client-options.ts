import type { ChatClientOptions, OptionRules } from '@lamella/core/authoring'
import type { Fetch, RequestSender } from '@lamella/transport'
import type { ContentCaching } from '../caching/content-caching.ts'
import type { SafetySetting } from '../requests/google-provider-options.ts'

/** Project and place of Vertex AI. */
export interface VertexOptions {
  /** Id of the Google Cloud project. */
  readonly project: string
  /** Region, such as `europe-west4`. @default 'global' */
  readonly location?: string | undefined
  /**
   * Returns an OAuth token; called before each request. That of `google-auth-library` caches and renews
   * them.
   */
  readonly token: () => Promise<string | null | undefined>
}

/** Options of `GoogleChatClient`. */
export interface GoogleChatClientOptions extends ChatClientOptions {
  /**
   * The key, or a function that is called for one before each request.
   * @default the variable `GEMINI_API_KEY`, else `GOOGLE_API_KEY`
   */
  readonly apiKey?: string | (() => Promise<string>) | undefined
  /** Uses Vertex AI with a token instead of the Gemini API with a key. @default none */
  readonly vertex?: VertexOptions | undefined
  /**
   * Address of the server, without the version.
   * @default the variable `GOOGLE_GEMINI_BASE_URL`, else Google's own
   */
  readonly baseURL?: string | undefined
  /** Version of the API. @default 'v1beta', with `vertex` 'v1beta1' */
  readonly apiVersion?: string | undefined
  /**
   * Name of the server: the origin of contents, the name in errors, a second key of `providerOptions`.
   * @default 'google', with `vertex` 'google-vertex'
   */
  readonly provider?: string | undefined
  /** Thresholds of the safety filters for calls that set none. @default Google's */
  readonly safetySettings?: readonly SafetySetting[] | undefined
  /**
   * Makes the cached contents that calls ask for: `cachedContents()` of `@lamella/google/caching`.
   * @default none
   */
  readonly caching?: ContentCaching | undefined
  /**
   * Milliseconds from the request to the first update of a stream, retries of the transport
   * included. `Infinity` sets no limit.
   * @default 600_000
   */
  readonly firstUpdateTimeoutMs?: number | undefined
  /**
   * Milliseconds without any data in a stream, or in the body of a plain answer after its headers.
   * `Infinity` sets no limit.
   * @default 300_000
   */
  readonly idleTimeoutMs?: number | undefined
  /** Milliseconds until the headers of an answer, for each attempt. @default 600_000 */
  readonly timeoutMs?: number | undefined
  /** Replaces the global `fetch`, such as for a proxy. @default the global `fetch` */
  readonly fetch?: Fetch | undefined
  /** Headers of every request. */
  readonly defaultHeaders?: Readonly<Record<string, string>> | undefined
  /**
   * Sends the requests instead of the client's own `HttpClient`. Excludes the options that would
   * create one.
   */
  readonly client?: RequestSender | undefined
}

export const owner = 'GoogleChatClient'

export const clientRules: OptionRules<GoogleChatClientOptions> = {
  name: 'string?',
  model: 'any',
  middleware: 'any',
  apiKey: 'any',
  vertex: { project: 'string', location: 'string?', token: 'function' },
  baseURL: 'any',
  apiVersion: 'string?',
  provider: 'string?',
  safetySettings: 'any',
  caching: 'function?',
  firstUpdateTimeoutMs: 'ms',
  idleTimeoutMs: 'ms',
  timeoutMs: 'ms',
  fetch: 'function?',
  defaultHeaders: 'any',
  client: 'any',
}

import { ProviderError } from '@lamella/core'
import type { RequestSender } from '@lamella/transport'
import {
  checkNoClash,
  defined,
  HttpClient,
  isHeaderValue,
  unfitForHeader,
} from '@lamella/transport'
import type { ErrorCodes } from '../errors/error-kind.ts'
import type { OpenAIConnectionSettings } from './client-options.ts'
import { addressOf, connecting, senderSettings } from './client-options.ts'

/** Options of the clients that send with `fetch`. */
export interface OpenAIClientOptions extends OpenAIConnectionSettings {
  /**
   * Sends the requests instead of the client's own `HttpClient`. Excludes the options that would
   * create one.
   */
  readonly client?: RequestSender | undefined
}

/** Parts of a client besides its model. */
export interface Connection {
  readonly sender: RequestSender
  /** The server, without what an address may hold of secrets. */
  readonly server: string
  readonly provider: string
  /** Kinds of failures by the server's own codes. */
  readonly errorCodes: ErrorCodes
  readonly firstUpdateTimeoutMs: number
  readonly idleTimeoutMs: number
}

/** Checks the options and makes the sender. `owner` is the class that is named in errors. */
export function connect(
  owner: string,
  options: OpenAIClientOptions,
  errorCodes: ErrorCodes = {},
): Connection {
  const { provider = 'openai', firstUpdateTimeoutMs = 600_000, idleTimeoutMs = 300_000 } = options
  if (provider === '') throw new TypeError(`${owner}: \`provider\` must not be empty`)
  const sender = senderOf(owner, provider, options)
  return {
    sender,
    get server() {
      const { origin, pathname } = new URL(sender.baseURL)
      return origin + pathname
    },
    provider,
    errorCodes,
    firstUpdateTimeoutMs,
    idleTimeoutMs,
  }
}

function senderOf(owner: string, provider: string, options: OpenAIClientOptions): RequestSender {
  if (options.client !== undefined) {
    checkNoClash(owner, options, connecting)
    return options.client
  }
  const { apiKey, organization, project } = senderSettings(owner, options)
  return new HttpClient({
    baseURL: addressOf(options),
    apiKey: typeof apiKey === 'string' ? apiKey : () => keyFrom(apiKey, provider),
    headers: {
      ...defined({ 'openai-organization': organization, 'openai-project': project }),
      ...options.defaultHeaders,
    },
    fetch: options.fetch,
    timeoutMs: options.timeoutMs,
    bodyTimeoutMs: options.idleTimeoutMs,
  })
}

/** Asks for a key and checks that a header can carry it. */
export async function keyFrom(apiKey: () => Promise<string>, provider: string): Promise<string> {
  const given: unknown = await apiKey()
  const key = typeof given === 'string' ? given.trim() : ''
  if (isHeaderValue(key)) return key
  throw new ProviderError(`${provider}: the API key ${unfitForHeader}`, { kind: 'auth', provider })
}

import type { RequestSender } from '@lamella/transport'
import { checkNoClash } from '@lamella/transport'
import { checkOptions } from '@lamella/core/authoring'
import { Anthropic } from '@anthropic-ai/sdk'
import type { AnthropicConnectionSettings } from './connection/client-options.ts'
import {
  addressOf,
  clientRules,
  connecting,
  credentialOf,
  owner,
} from './connection/client-options.ts'
import type { AnthropicChatClientOptions as FetchOptions } from './connection/anthropic-connection.ts'
import { sdkSender } from './sdk-sender.ts'

/** Options of `AnthropicChatClient`. */
export interface AnthropicChatClientOptions extends AnthropicConnectionSettings {
  /** Your own client of the SDK. Excludes the options that would create one. */
  readonly client?: Anthropic | undefined
}

/** The same options with an SDK client that sends. */
export function sdkOptions(options: AnthropicChatClientOptions): FetchOptions {
  checkOptions(owner, options, clientRules)
  const { idleTimeoutMs } = options
  if (options.client !== undefined) checkNoClash(owner, options, connecting)
  return {
    ...options,
    apiKey: undefined,
    authToken: undefined,
    baseURL: undefined,
    timeoutMs: undefined,
    fetch: undefined,
    defaultHeaders: undefined,
    client:
      options.client === undefined
        ? newSender(options)
        : sdkSender(options.client, { bodyTimeoutMs: idleTimeoutMs }),
  }
}

function newSender(options: AnthropicChatClientOptions): RequestSender {
  const { timeoutMs, idleTimeoutMs: bodyTimeoutMs, fetch, defaultHeaders } = options
  const credential = credentialOf(options)
  let latest: string | undefined
  const client = new Anthropic({
    // Exactly one of both, so that the SDK looks nowhere else: not on disk, not in the cloud.
    ...credential,
    ...('apiKey' in credential &&
      typeof credential.apiKey === 'function' && {
        apiKey: async () => (latest = await (credential.apiKey as () => Promise<string>)()),
      }),
    baseURL: addressOf(options),
    // Tracing is a middleware here, and every call would have two spans.
    openTelemetry: false,
    ...(fetch !== undefined && { fetch }),
    ...(defaultHeaders !== undefined && { defaultHeaders }),
  })
  const sender = sdkSender(client, { timeoutMs, bodyTimeoutMs })
  return {
    get baseURL() {
      return sender.baseURL
    },
    get keys() {
      return latest === undefined ? sender.keys : [...sender.keys, latest]
    },
    send: (request) => sender.send(request),
  }
}

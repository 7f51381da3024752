import { checkOptions } from '@lamella/core/authoring'
import type { RequestSender } from '@lamella/transport'
import { checkNoClash, HttpClient } from '@lamella/transport'
import type { MessagesDialect } from '../history/messages-dialect.ts'
import { dialectOf, messagesDialects } from '../history/messages-dialect.ts'
import type { AnthropicConnectionSettings } from './client-options.ts'
import { addressOf, clientRules, connecting, credentialOf, owner } from './client-options.ts'

/** Options of `AnthropicChatClient` that sends with `fetch`. */
export interface AnthropicChatClientOptions extends AnthropicConnectionSettings {
  /**
   * Sends the requests instead of the client's own `HttpClient`. Excludes the options that would
   * create one.
   */
  readonly client?: RequestSender | undefined
}

/** Parts of a client besides its model. */
export interface Connection {
  readonly sender: RequestSender
  readonly provider: string
  readonly dialect: MessagesDialect
  readonly maxOutputTokens: number
  readonly firstUpdateTimeoutMs: number
  readonly idleTimeoutMs: number
}

/** Checks the options and makes the sender. */
export function connect(options: AnthropicChatClientOptions): Connection {
  checkOptions(owner, options, clientRules)
  const {
    maxOutputTokens = 8192,
    firstUpdateTimeoutMs = 600_000,
    idleTimeoutMs = 300_000,
  } = options
  const sender = senderOf(options)
  const dialect = checkedDialect(options, sender.baseURL)
  const provider = options.provider ?? dialect.provider
  return { sender, provider, dialect, maxOutputTokens, firstUpdateTimeoutMs, idleTimeoutMs }
}

function checkedDialect({ dialect }: AnthropicChatClientOptions, server: string): MessagesDialect {
  if (typeof dialect === 'string') {
    checkOptions(owner, { dialect }, { dialect: Object.keys(messagesDialects) })
  } else if (dialect !== undefined) {
    const fields = {
      provider: 'string',
      hosts: 'any',
      unsignedThinking: 'any',
      requiredThinking: 'any',
      files: 'any',
    } as const
    checkOptions(`${owner}: \`dialect\``, dialect, fields)
  }
  return dialectOf(dialect, server)
}

function senderOf(options: AnthropicChatClientOptions): RequestSender {
  if (options.client !== undefined) {
    checkNoClash(owner, options, connecting)
    return options.client
  }
  const credential = credentialOf(options)
  return new HttpClient({
    baseURL: addressOf(options) ?? 'https://api.anthropic.com',
    apiKey: 'apiKey' in credential ? credential.apiKey : credential.authToken,
    headers: { 'anthropic-version': '2026-10-21', ...options.defaultHeaders },
    fetch: options.fetch,
    timeoutMs: options.timeoutMs,
    bodyTimeoutMs: options.idleTimeoutMs,
  })
}

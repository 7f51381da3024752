import type { ChatClientOptions, OptionRules } from '@lamella/core/authoring'
import type { Fetch } from '@lamella/transport'
import { checkAddress, checkHeader, environmentVariable } from '@lamella/transport'
import type { MessagesDialect, MessagesDialectName } from '../history/messages-dialect.ts'

/** Options of `AnthropicChatClient`, except the one for your own SDK client. */
export interface AnthropicConnectionSettings extends ChatClientOptions {
  /**
   * The key, or a function that is called for one before each request.
   * @default the variable `ANTHROPIC_API_KEY`
   */
  readonly apiKey?: string | (() => Promise<string>) | undefined
  /** A token instead of a key. @default the variable `ANTHROPIC_AUTH_TOKEN` */
  readonly authToken?: string | undefined
  /**
   * Differences of the server from Anthropic: the name of one of `messagesDialects`, or your own
   * dialect.
   * @default that of the host in `baseURL`, else `'anthropic'`
   */
  readonly dialect?: MessagesDialectName | MessagesDialect | undefined
  /**
   * Name of the server: the origin of contents, the name in errors, a second key of `providerOptions`.
   * @default that of the dialect
   */
  readonly provider?: string | undefined
  /**
   * Address of the server, without `/v1`.
   * @default the variable `ANTHROPIC_BASE_URL`, else Anthropic's own
   */
  readonly baseURL?: string | undefined
  /**
   * Maximum tokens of an answer, thinking included, if a call sets none. Anthropic requires a
   * number with every request.
   * @default 8192
   */
  readonly maxOutputTokens?: number | undefined
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
}

export const owner = 'AnthropicChatClient'

export const clientRules: OptionRules<AnthropicConnectionSettings & { readonly client?: unknown }> =
  {
    name: 'string?',
    model: 'any',
    middleware: 'any',
    apiKey: 'any',
    authToken: 'any',
    dialect: 'any',
    provider: 'string?',
    baseURL: 'any',
    maxOutputTokens: 1,
    firstUpdateTimeoutMs: 'ms',
    idleTimeoutMs: 'ms',
    timeoutMs: 'ms',
    fetch: 'function?',
    defaultHeaders: 'any',
    client: 'any',
  }

export const connecting = [
  'apiKey',
  'authToken',
  'baseURL',
  'timeoutMs',
  'fetch',
  'defaultHeaders',
] as const

/** A key, or a token in place of one. */
export type Credential =
  | { readonly apiKey: string | (() => Promise<string>) }
  | { readonly authToken: string }

/** Returns exactly one of key and token, from the options or the environment. */
export function credentialOf(options: AnthropicConnectionSettings): Credential {
  const { apiKey, authToken } = options
  if (apiKey && authToken) {
    throw new TypeError(`${owner}: pass \`apiKey\` or \`authToken\`, not both`)
  }
  if (typeof apiKey === 'function') {
    return { apiKey: async () => legalKey('apiKey', await apiKey()) }
  }
  if (apiKey) return { apiKey: legalKey('apiKey', apiKey) }
  if (authToken) return { authToken: legalKey('authToken', authToken) }
  const keyThere = environmentVariable('ANTHROPIC_API_KEY')
  if (keyThere) return { apiKey: legalKey('ANTHROPIC_API_KEY', keyThere) }
  const tokenThere = environmentVariable('ANTHROPIC_AUTH_TOKEN')
  if (tokenThere) return { authToken: legalKey('ANTHROPIC_AUTH_TOKEN', tokenThere) }
  throw new TypeError(`${owner}: no API key; pass \`apiKey\` or set the variable ANTHROPIC_API_KEY`)
}

function legalKey(name: string, key: unknown): string {
  if (typeof key !== 'string' || key === '') {
    throw new TypeError(`${owner}: \`${name}\` must be a string that is not empty`)
  }
  checkHeader(`${owner}: \`${name}\``, key)
  return key
}

/** Returns the address of the option or the environment, if there is one. */
export function addressOf({ baseURL }: AnthropicConnectionSettings): string | undefined {
  const address = baseURL ?? environmentVariable('ANTHROPIC_BASE_URL')
  if (address) checkAddress(`${owner}: \`baseURL\``, address)
  return address || undefined
}

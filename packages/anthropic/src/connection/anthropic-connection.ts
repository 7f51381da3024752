import type { ChatClientOptions } from '@lamella/core'
import type { OptionRules } from '@lamella/core/authoring'
import { checkOptions } from '@lamella/core/authoring'
import { longestTimerMs } from '@lamella/core/transport'
import type { ClientOptions } from '@anthropic-ai/sdk'
import { Anthropic } from '@anthropic-ai/sdk'
import type { MessagesDialect, MessagesDialectName } from '../history/messages-dialect.ts'
import { dialectOf, messagesDialects } from '../history/messages-dialect.ts'

/** Options of `AnthropicChatClient`. */
export interface AnthropicChatClientOptions extends ChatClientOptions {
  /**
   * The key, or a function that is asked for one before each request.
   * @default the variable `ANTHROPIC_API_KEY`
   */
  readonly apiKey?: string | (() => Promise<string>) | undefined
  /** A token, where there is no key. @default the variable `ANTHROPIC_AUTH_TOKEN` */
  readonly authToken?: string | undefined
  /**
   * Habits of the server: the name of one of `messagesDialects`, or a dialect of your own.
   * @default that of the host in `baseURL`, else `'anthropic'`
   */
  readonly dialect?: MessagesDialectName | MessagesDialect | undefined
  /**
   * Name of the server: the origin of contents, the name in errors, a second key of `providerOptions`.
   * @default that of the dialect
   */
  readonly provider?: string | undefined
  /** The host, without `/v1`. @default the variable `ANTHROPIC_BASE_URL`, else Anthropic's own */
  readonly baseURL?: string | undefined
  /**
   * Most tokens of an answer, thinking included, where a call says nothing. Anthropic asks for a
   * number with every request.
   * @default 8192
   */
  readonly maxOutputTokens?: number | undefined
  /**
   * Milliseconds from the request to the first update of a stream, the SDK's repeats included.
   * `Infinity` waits for ever.
   * @default 600_000
   */
  readonly firstUpdateTimeoutMs?: number | undefined
  /**
   * Milliseconds without any data while a stream is waited for; also for the body of a whole answer,
   * once its headers are there. `Infinity` waits for ever.
   * @default 300_000
   */
  readonly idleTimeoutMs?: number | undefined
  /** Milliseconds until an answer's headers, per attempt of the SDK. @default 600_000 */
  readonly timeoutMs?: number | undefined
  /** Replaces the global `fetch`, such as for a proxy. @default the global `fetch` */
  readonly fetch?: ClientOptions['fetch']
  /** Headers of every request. */
  readonly defaultHeaders?: Readonly<Record<string, string>> | undefined
  /** A client of the SDK of one's own. Excludes the options that would make one. */
  readonly client?: Anthropic | undefined
}

/** Parts of a client besides its model. */
export interface Connection {
  readonly client: Anthropic
  readonly provider: string
  readonly dialect: MessagesDialect
  /** Keys and tokens that must not be repeated in an error. */
  readonly secrets: () => readonly string[]
  readonly maxOutputTokens: number
  readonly firstUpdateTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly timeoutMs: number
}

const connecting = [
  'apiKey',
  'authToken',
  'baseURL',
  'timeoutMs',
  'fetch',
  'defaultHeaders',
] as const
const owner = 'AnthropicChatClient'

const rules: OptionRules<AnthropicChatClientOptions> = {
  model: 'any',
  middleware: 'any',
  apiKey: 'any',
  authToken: 'any',
  dialect: 'any',
  provider: 'string?',
  baseURL: 'any',
  maxOutputTokens: 1,
  firstUpdateTimeoutMs: 'any',
  idleTimeoutMs: 'any',
  timeoutMs: 'any',
  fetch: 'function?',
  defaultHeaders: 'any',
  client: 'any',
}

/** Checks the options and makes the SDK's client. */
export function connect(options: AnthropicChatClientOptions): Connection {
  checkOptions(owner, options, rules)
  const { maxOutputTokens = 8192 } = options
  const { firstUpdateTimeoutMs = 600_000, idleTimeoutMs = 300_000, timeoutMs } = options
  for (const [name, ms] of Object.entries({ firstUpdateTimeoutMs, idleTimeoutMs, timeoutMs })) {
    if (ms !== undefined && !(ms > 0)) {
      throw new RangeError(`${owner}: \`${name}\` must be more than 0 milliseconds, got ${ms}`)
    }
  }
  const handedOut = new Set<string>()
  const client = sdkClient(options, handedOut)
  const dialect = checkedDialect(options, client.baseURL)
  return {
    client,
    provider: options.provider ?? dialect.provider,
    dialect,
    secrets: () =>
      [client.apiKey, client.authToken, ...handedOut].filter((key) => !!key) as string[],
    maxOutputTokens,
    firstUpdateTimeoutMs,
    idleTimeoutMs,
    timeoutMs: Math.min(timeoutMs ?? client.timeout, longestTimerMs),
  }
}

function checkedDialect({ dialect }: AnthropicChatClientOptions, server: string): MessagesDialect {
  if (typeof dialect === 'string') {
    checkOptions(owner, { dialect }, { dialect: Object.keys(messagesDialects) })
  } else if (dialect !== undefined) {
    const fields = {
      provider: 'string',
      hosts: 'any',
      unsignedThinking: 'any',
      files: 'any',
    } as const
    checkOptions(`${owner}: \`dialect\``, dialect, fields)
  }
  return dialectOf(dialect, server)
}

function sdkClient(options: AnthropicChatClientOptions, handedOut: Set<string>): Anthropic {
  if (options.client !== undefined) {
    const clash = connecting.find((name) => options[name] !== undefined)
    if (clash === undefined) return options.client
    throw new TypeError(`${owner}: \`${clash}\` belongs to the \`client\` that was given`)
  }
  return new Anthropic({
    ...credential(options, handedOut),
    baseURL: address(options.baseURL ?? environment('ANTHROPIC_BASE_URL')),
    // Tracing is a middleware here, and every call would have two spans.
    openTelemetry: false,
    ...(options.fetch !== undefined && { fetch: options.fetch }),
    ...(options.defaultHeaders !== undefined && { defaultHeaders: options.defaultHeaders }),
  })
}

/** Exactly one of key and token, so that the SDK looks nowhere else: not on disk, not in the cloud. */
function credential(
  options: AnthropicChatClientOptions,
  handedOut: Set<string>,
): Pick<ClientOptions, 'apiKey' | 'authToken'> {
  const { apiKey, authToken } = options
  if (apiKey && authToken) {
    throw new TypeError(`${owner}: pass \`apiKey\` or \`authToken\`, not both`)
  }
  if (typeof apiKey === 'function') {
    const ask = async (): Promise<string> => {
      const key = legalKey('apiKey', await apiKey())
      // Only the latest: functions hand out a new token every few minutes.
      handedOut.clear()
      handedOut.add(key)
      return key
    }
    return { apiKey: ask }
  }
  if (apiKey) return { apiKey: legalKey('apiKey', apiKey) }
  if (authToken) return { authToken: legalKey('authToken', authToken) }
  const keyThere = environment('ANTHROPIC_API_KEY')
  if (keyThere) return { apiKey: legalKey('ANTHROPIC_API_KEY', keyThere) }
  const tokenThere = environment('ANTHROPIC_AUTH_TOKEN')
  if (tokenThere) return { authToken: legalKey('ANTHROPIC_AUTH_TOKEN', tokenThere) }
  throw new TypeError(`${owner}: no API key; pass \`apiKey\` or set the variable ANTHROPIC_API_KEY`)
}

/** A header cannot hold such a key, and the error of `fetch` would quote it. */
function legalKey(name: string, key: unknown): string {
  if (typeof key !== 'string' || key === '') {
    throw new TypeError(`${owner}: \`${name}\` must be a string that is not empty`)
  }
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[^\u0020-\u007E]/.test(key)) {
    throw new TypeError(`${owner}: \`${name}\` has a character that no header may have`)
  }
  return key
}

function address(baseURL: string | undefined): string | undefined {
  if (!baseURL) return undefined
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`${owner}: \`baseURL\` must be an address that begins with http`)
  }
  if (url.username || url.password) {
    throw new TypeError(`${owner}: \`baseURL\` must not hold credentials`)
  }
  return baseURL
}

function environment(name: string): string | undefined {
  return globalThis.process?.env?.[name]?.trim() || undefined
}

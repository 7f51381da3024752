import type { ChatClientOptions } from '@lamella/core'
import { ProviderError } from '@lamella/core'
import type { OptionRules } from '@lamella/core/authoring'
import { checkHeader, isHeaderValue, longestTimerMs, unfitForHeader } from '@lamella/core/transport'
import type { ClientOptions } from 'openai'
import { OpenAI } from 'openai'
import { checkAddress } from './check-address.ts'
import { boundedFailures } from './bounded-failures.ts'
import type { ErrorCodes } from '../errors/error-kind.ts'

/** Options of both clients. */
export interface OpenAIClientOptions extends ChatClientOptions {
  /**
   * The key, or a function that is asked for one before each request.
   * @default the variable `OPENAI_API_KEY`; none is needed where `baseURL` is another server's
   */
  readonly apiKey?: string | (() => Promise<string>) | undefined
  /** Address of the server. @default the variable `OPENAI_BASE_URL`, else OpenAI's own */
  readonly baseURL?: string | undefined
  /** Id of the organization that pays. @default the variable `OPENAI_ORG_ID` */
  readonly organization?: string | undefined
  /** Id of the project that pays. @default the variable `OPENAI_PROJECT_ID` */
  readonly project?: string | undefined
  /** Who answers: the origin of contents, and a second key of `providerOptions`. @default 'openai' */
  readonly provider?: string | undefined
  /**
   * Milliseconds from the request to the first update of a stream, the SDK's repeats included.
   * `Infinity` waits for ever.
   * @default 600_000
   */
  readonly firstUpdateTimeoutMs?: number | undefined
  /**
   * Milliseconds without any data while a stream is read; also for the body of a whole answer, after
   * its headers. `Infinity` waits for ever.
   * @default 300_000
   */
  readonly idleTimeoutMs?: number | undefined
  /** Milliseconds until an answer's headers, per attempt of the SDK. @default 600_000, the SDK's own */
  readonly timeoutMs?: number | undefined
  /** Replaces the global `fetch`, such as for a proxy. @default the global `fetch` */
  readonly fetch?: ClientOptions['fetch']
  /** Headers of every request. */
  readonly defaultHeaders?: Readonly<Record<string, string>> | undefined
  /** An OpenAI client of one's own. Excludes the options that would make one. */
  readonly client?: OpenAI | undefined
}

/** Parts of a client besides the SDK's client. */
export interface Connection {
  readonly client: OpenAI
  /** The server, without what an address may hold of secrets. */
  readonly server: string
  readonly provider: string
  /** Kinds of failures by the server's own codes. */
  readonly errorCodes: ErrorCodes
  readonly firstUpdateTimeoutMs: number
  readonly idleTimeoutMs: number
}

// Sent to servers that need no key, which the SDK does not know.
const noKey = 'none'

const connecting = [
  'apiKey',
  'baseURL',
  'organization',
  'project',
  'timeoutMs',
  'fetch',
  'defaultHeaders',
] as const

export const clientRules: OptionRules<OpenAIClientOptions> = {
  model: 'any',
  middleware: 'any',
  apiKey: 'any',
  baseURL: 'any',
  organization: 'any',
  project: 'any',
  provider: 'any',
  firstUpdateTimeoutMs: 'any',
  idleTimeoutMs: 'any',
  timeoutMs: 'any',
  fetch: 'function?',
  defaultHeaders: 'any',
  client: 'any',
}

/** Checks the options and makes the SDK's client. `owner` is the class that is named in errors. */
export function connect(
  owner: string,
  options: OpenAIClientOptions,
  errorCodes: ErrorCodes = {},
): Connection {
  const { provider = 'openai', firstUpdateTimeoutMs = 600_000, idleTimeoutMs = 300_000 } = options
  if (provider === '') throw new TypeError(`${owner}: \`provider\` must not be empty`)
  for (const [name, ms] of Object.entries({
    firstUpdateTimeoutMs,
    idleTimeoutMs,
    timeoutMs: options.timeoutMs,
  })) {
    if (ms !== undefined && !(ms > 0)) {
      throw new RangeError(`${owner}: \`${name}\` must be more than 0 milliseconds, got ${ms}`)
    }
  }
  const client = sdkClient(owner, provider, options)
  return {
    client,
    get server() {
      const { origin, pathname } = new URL(client.baseURL)
      return origin + pathname
    },
    provider,
    errorCodes,
    firstUpdateTimeoutMs,
    idleTimeoutMs,
  }
}

/** The address that a client with these options calls. */
export function addressOf({ client, baseURL }: OpenAIClientOptions): string {
  return client?.baseURL ?? baseURL ?? environment('OPENAI_BASE_URL') ?? 'https://api.openai.com/v1'
}

function sdkClient(owner: string, provider: string, options: OpenAIClientOptions): OpenAI {
  const { client, baseURL = environment('OPENAI_BASE_URL'), timeoutMs } = options
  if (client !== undefined) {
    const clash = connecting.find((name) => options[name] !== undefined)
    if (clash === undefined) return client
    throw new TypeError(`${owner}: \`${clash}\` belongs to the \`client\` that was given`)
  }
  const given = typeof options.apiKey === 'string' ? options.apiKey.trim() : options.apiKey
  const apiKey = given || environment('OPENAI_API_KEY') || (baseURL ? noKey : undefined)
  if (apiKey === undefined) {
    throw new TypeError(`${owner}: no API key; pass \`apiKey\` or set the variable OPENAI_API_KEY`)
  }
  checkValues(owner, apiKey, baseURL, options)
  return new OpenAI({
    apiKey: typeof apiKey === 'string' ? apiKey : () => keyFrom(apiKey, provider),
    ...(baseURL && { baseURL }),
    ...(options.organization !== undefined && { organization: options.organization }),
    ...(options.project !== undefined && { project: options.project }),
    ...(timeoutMs !== undefined && { timeout: Math.min(timeoutMs, longestTimerMs) }),
    fetch: boundedFailures(options.fetch, options.idleTimeoutMs),
    ...(options.defaultHeaders !== undefined && { defaultHeaders: options.defaultHeaders }),
  })
}

/** Refuses values that `fetch` would refuse with a message that quotes them. */
function checkValues(
  owner: string,
  apiKey: OpenAIClientOptions['apiKey'],
  baseURL: string | undefined,
  { organization, project, defaultHeaders = {} }: OpenAIClientOptions,
): void {
  if (typeof apiKey === 'string') checkHeader(`${owner}: the API key`, apiKey)
  if (baseURL) checkAddress(`${owner}: \`baseURL\``, baseURL)
  checkHeader(`${owner}: \`organization\``, organization)
  checkHeader(`${owner}: \`project\``, project)
  for (const [name, value] of Object.entries(defaultHeaders)) {
    checkHeader(`${owner}: \`defaultHeaders\`: the value of ${JSON.stringify(name)}`, value)
  }
}

async function keyFrom(apiKey: () => Promise<string>, provider: string): Promise<string> {
  const given: unknown = await apiKey()
  const key = typeof given === 'string' ? given.trim() : ''
  if (isHeaderValue(key)) return key
  throw new ProviderError(`${provider}: the API key ${unfitForHeader}`, { kind: 'auth', provider })
}

function environment(name: string): string | undefined {
  return globalThis.process?.env?.[name]?.trim() || undefined
}

import type { ChatClientOptions, OptionRules } from '@lamella/core/authoring'
import type { Fetch } from '@lamella/transport'
import { checkAddress, checkHeader, environmentVariable } from '@lamella/transport'

/** Options of all clients, except the one for your own SDK client. */
export interface OpenAIConnectionSettings extends ChatClientOptions {
  /**
   * The key, or a function that is called for one before each request.
   * @default the variable
   * `OPENAI_API_KEY`; optional if `baseURL` is another server
   */
  readonly apiKey?: string | (() => Promise<string>) | undefined
  /** Address of the server. @default the variable `OPENAI_BASE_URL`, else OpenAI's own */
  readonly baseURL?: string | undefined
  /** Id of the organization that pays. @default the variable `OPENAI_ORG_ID` */
  readonly organization?: string | undefined
  /** Id of the project that pays. @default the variable `OPENAI_PROJECT_ID` */
  readonly project?: string | undefined
  /** Name of the provider: the origin of its contents, and a second key of `providerOptions`. @default 'openai' */
  readonly provider?: string | undefined
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

export const clientRules: OptionRules<OpenAIConnectionSettings & { readonly client?: unknown }> = {
  name: 'string?',
  model: 'any',
  middleware: 'any',
  apiKey: 'any',
  baseURL: 'any',
  organization: 'any',
  project: 'any',
  provider: 'any',
  firstUpdateTimeoutMs: 'ms',
  idleTimeoutMs: 'ms',
  timeoutMs: 'ms',
  fetch: 'function?',
  defaultHeaders: 'any',
  client: 'any',
}

export const connecting = [
  'apiKey',
  'baseURL',
  'organization',
  'project',
  'timeoutMs',
  'fetch',
  'defaultHeaders',
] as const

/** Options that make a sender, checked and completed from the environment. */
export interface SenderSettings {
  /** `none` for servers that need no key. */
  readonly apiKey: string | (() => Promise<string>)
  readonly baseURL: string | undefined
  readonly organization: string | undefined
  readonly project: string | undefined
}

// Sent to servers that need no key, which the SDK does not know.
const noKey = 'none'

/**
 * Reads what makes a sender from options and environment. `owner` is the class that is named in errors.
 * @throws TypeError for a value that `fetch` would refuse with a message that quotes it
 */
export function senderSettings(owner: string, options: OpenAIConnectionSettings): SenderSettings {
  const { baseURL = environmentVariable('OPENAI_BASE_URL') } = options
  const { organization = environmentVariable('OPENAI_ORG_ID'), defaultHeaders = {} } = options
  const { project = environmentVariable('OPENAI_PROJECT_ID') } = options
  const given = typeof options.apiKey === 'string' ? options.apiKey.trim() : options.apiKey
  const apiKey = given || environmentVariable('OPENAI_API_KEY') || (baseURL ? noKey : undefined)
  if (apiKey === undefined) {
    throw new TypeError(`${owner}: no API key; pass \`apiKey\` or set the variable OPENAI_API_KEY`)
  }
  if (typeof apiKey === 'string') checkHeader(`${owner}: the API key`, apiKey)
  if (baseURL) checkAddress(`${owner}: \`baseURL\``, baseURL)
  checkHeader(`${owner}: \`organization\``, organization)
  checkHeader(`${owner}: \`project\``, project)
  for (const [name, value] of Object.entries(defaultHeaders)) {
    checkHeader(`${owner}: \`defaultHeaders\`: the value of ${JSON.stringify(name)}`, value)
  }
  return { apiKey, baseURL: baseURL || undefined, organization, project }
}

/** Address that a client with these options calls. */
export function addressOf({
  client,
  baseURL,
}: {
  readonly client?: { readonly baseURL: string } | undefined
  readonly baseURL?: string | undefined
}): string {
  return (
    client?.baseURL ??
    baseURL ??
    environmentVariable('OPENAI_BASE_URL') ??
    'https://api.openai.com/v1'
  )
}

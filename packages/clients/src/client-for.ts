import type { ChatClient } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import { aiSdkModel } from './ai-sdk-model.ts'
import type { CompatibleServer } from './compatible-servers.ts'
import { compatibleServers } from './compatible-servers.ts'
import { environmentVariable } from './environment-variable.ts'
import type { Load } from './load-package.ts'
import { loadPackage } from './load-package.ts'

/** Options of the client that a name stands for, besides its model: `apiKey`, `middleware` and so on. */
export type ClientSettings = Readonly<Record<string, unknown>>

/** Makes the client of a model for a prefix of your own. */
export type ClientFactory = (
  model: string,
  settings: ClientSettings,
) => ChatClient | Promise<ChatClient>

/**
 * Makes the client of a model by its name, such as `anthropic/claude-sonnet-5-5`. Without a name, the
 * environment variable counts.
 * @throws TypeError for a name without a prefix, and for an unknown prefix; what the client's constructor throws
 * @throws LamellaError `client_not_installed`, which says what to install
 */
export type ClientFor = (name?: string, settings?: ClientSettings) => Promise<ChatClient>

/** Options of `namedClients`. */
export interface NamedClientsOptions {
  /**
   * Prefixes of your own: a function, or the name that counts instead, with or without a model. They
   * override those of the package.
   * @default none
   */
  readonly prefixes?: Readonly<Record<string, string | ClientFactory>> | undefined
  /** Environment variable with the name of calls that pass none. @default 'LAMELLA_MODEL' */
  readonly variable?: string | undefined
  /**
   * Imports a package. Pass `(specifier) => import(specifier)` where packages are found from your
   * module only.
   * @default an import from this package
   */
  readonly load?: ((specifier: string) => Promise<unknown>) | undefined
}

type OwnPrefixes = NonNullable<NamedClientsOptions['prefixes']>
type Maker = (request: NamedRequest) => ChatClient | Promise<ChatClient>

/** A name in its parts. */
interface NamedRequest {
  readonly name: string
  readonly model: string
  readonly settings: ClientSettings
  readonly load: Load
}

/**
 * Creates a `clientFor` with prefixes of your own.
 *
 * @example
 * ```ts
 * import { namedClients } from '@lamella/clients'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const clientFor = namedClients({
 *   prefixes: { fast: 'openai/gpt-5-mini', test: (model) => scriptedClient([`I am ${model}.`]) },
 * })
 * const client = await clientFor('test/nobody')
 * console.log((await client.getResponse('Hello')).text) // I am nobody.
 * ```
 */
export function namedClients(options: NamedClientsOptions = {}): ClientFor {
  checkOptions('namedClients', options, { prefixes: 'any', variable: 'string?', load: 'function?' })
  const {
    prefixes = {},
    variable = 'LAMELLA_MODEL',
    load = (specifier) => import(specifier),
  } = options
  for (const [prefix, meaning] of Object.entries(prefixes)) checkPrefix(prefix, meaning)
  return async (given, settings = {}) => {
    const name = given ?? environmentVariable(variable)
    if (name === undefined) {
      throw new TypeError(`clientFor: no name; pass one or set the variable ${variable}`)
    }
    return makeClient(name, prefixes, { settings, load })
  }
}

/**
 * Makes the client of a model by its name.
 *
 * @example
 * ```ts
 * import { clientFor } from '@lamella/clients'
 * import { Agent } from '@lamella/core'
 *
 * const agentFor = async (model: string) => new Agent({ client: await clientFor(model) })
 * const agent = await agentFor('ollama/qwen3')
 * ```
 */
export const clientFor: ClientFor = /* @__PURE__ */ namedClients()

function checkPrefix(prefix: string, meaning: unknown): void {
  if (prefix === '' || prefix.includes('/')) {
    throw new TypeError(`namedClients: a prefix must be a word without \`/\`, got "${prefix}"`)
  }
  if (typeof meaning !== 'function' && (typeof meaning !== 'string' || meaning === '')) {
    throw new TypeError(
      `namedClients: \`prefixes.${prefix}\` must be a function or a name, got ${typeof meaning}`,
    )
  }
}

async function makeClient(
  name: string,
  own: OwnPrefixes,
  parts: Pick<NamedRequest, 'settings' | 'load'>,
): Promise<ChatClient> {
  if (typeof name !== 'string')
    throw new TypeError(
      `clientFor: the name must be a string such as "openai/gpt-5-mini", got ${typeof name}`,
    )
  const [prefix, model] = cut(name)
  const meaning = Object.hasOwn(own, prefix) ? own[prefix]! : undefined
  if (typeof meaning === 'function') return meaning(model, parts.settings)
  if (meaning !== undefined) {
    // A name in other words may use a prefix of the package that it overrides, and never itself.
    const { [prefix]: _, ...others } = own
    return makeClient(model === '' ? meaning : `${meaning}/${model}`, others, parts)
  }
  const maker = Object.hasOwn(makers, prefix) ? makers[prefix] : undefined
  if (maker === undefined) throw new TypeError(unknownPrefix(name, prefix, own))
  if (model === '') throw new TypeError(`clientFor: "${name}" names no model`)
  return maker({ ...parts, name, model })
}

/** The prefix, and all that follows its `/`. */
function cut(name: string): readonly [string, string] {
  const at = name.indexOf('/')
  return at === -1 ? [name, ''] : [name.slice(0, at), name.slice(at + 1)]
}

function unknownPrefix(name: string, prefix: string, own: OwnPrefixes): string {
  const known = [...new Set([...Object.keys(own), ...Object.keys(makers)])].toSorted().join(', ')
  return `clientFor: "${name}" has no known prefix; it must be one of ${known}, or "ai-sdk/${prefix}/…" for a provider of the AI SDK`
}

const makers: Readonly<Record<string, Maker>> = /* @__PURE__ */ knownMakers()

function knownMakers(): Readonly<Record<string, Maker>> {
  return {
    openai: byClass('@lamella/openai/fetch', 'OpenAIChatClient'),
    'openai-chat': byClass('@lamella/openai/fetch', 'OpenAIChatCompletionsClient'),
    'azure-openai': byClass('@lamella/azure-openai/fetch', 'AzureOpenAIChatClient'),
    anthropic: byClass('@lamella/anthropic/fetch', 'AnthropicChatClient'),
    google: byClass('@lamella/google', 'GoogleChatClient'),
    'google-vertex': byClass('@lamella/google', 'GoogleChatClient', withVertex),
    ...Object.fromEntries(
      Object.entries(compatibleServers).map(([dialect, server]) => [
        dialect,
        byClass('@lamella/openai/fetch', 'OpenAIChatCompletionsClient', ({ settings }) =>
          withServer(dialect, server, settings),
        ),
      ]),
    ),
    'ai-sdk': throughAiSdk,
  }
}

/** Makes clients of a class that a package of ours exports. */
function byClass(
  specifier: string,
  exportName: string,
  complete: (request: NamedRequest) => object | Promise<object> = ({ settings }) => settings,
): Maker {
  return async (request) => {
    const { [exportName]: Client } = await loadPackage(request.load, specifier, request.name)
    const options = { ...(await complete(request)), model: request.model }
    return new (Client as new (options: object) => ChatClient)(options)
  }
}

interface GoogleAuth {
  getAccessToken(): Promise<string | null | undefined>
}

/** Project and region come from the variables that Google's own libraries read, and tokens from Google's library. */
async function withVertex({ name, settings, load }: NamedRequest): Promise<object> {
  const given = settings['vertex'] as { readonly token?: unknown } | undefined
  const vertex = {
    project: environmentVariable('GOOGLE_CLOUD_PROJECT'),
    location: environmentVariable('GOOGLE_CLOUD_LOCATION'),
    ...given,
  }
  if (given?.token !== undefined) return { ...settings, vertex }
  const library = await loadPackage(load, 'google-auth-library', name)
  const Auth = library['GoogleAuth'] as new (options: object) => GoogleAuth
  const auth = new Auth({ scopes: 'https://www.googleapis.com/auth/cloud-platform' })
  return { ...settings, vertex: { ...vertex, token: () => auth.getAccessToken() } }
}

/** A server never gets the key of another: that of OpenAI is not read. */
function withServer(
  dialect: string,
  { baseURL, isLocal = false }: CompatibleServer,
  settings: ClientSettings,
): ClientSettings {
  const variable = dialect.toUpperCase()
  const apiKey = environmentVariable(`${variable}_API_KEY`) ?? (isLocal ? 'none' : undefined)
  const all = {
    apiKey,
    baseURL: environmentVariable(`${variable}_BASE_URL`) ?? baseURL,
    dialect,
    provider: dialect,
    ...settings,
  }
  if (all.apiKey !== undefined) return all
  throw new TypeError(
    `clientFor: no API key for ${dialect}; pass \`apiKey\` or set the variable ${variable}_API_KEY`,
  )
}

/** `ai-sdk/mistral/…` is the model of `@ai-sdk/mistral`. */
async function throughAiSdk({
  name,
  model: rest,
  settings,
  load,
}: NamedRequest): Promise<ChatClient> {
  const [provider, model] = cut(rest)
  // It becomes a part of what is imported.
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(provider) || model === '') {
    throw new TypeError(
      `clientFor: "${name}" must name a provider and a model, as in "ai-sdk/mistral/…"`,
    )
  }
  const { aiSdk } = await loadPackage(load, '@lamella/ai-sdk', name)
  const packageName = `@ai-sdk/${provider}`
  const { provider: providerSettings, ...options } = settings
  const languageModel = aiSdkModel(await loadPackage(load, packageName, name), {
    packageName,
    model,
    settings: providerSettings,
  })
  return (aiSdk as (model: unknown, options: object) => ChatClient)(languageModel, options)
}

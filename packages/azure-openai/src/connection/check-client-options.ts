import type { OptionRules } from '@lamella/core/authoring'
import { checkOptions, isObject } from '@lamella/core/authoring'
import { checkHeader, checkNoClash } from '@lamella/transport'
import type { AzureDataSource } from './azure-data-source.ts'
import type { AzureConnectionSettings } from './azure-openai-client-options.ts'

const credentials = ['apiKey', 'azureADTokenProvider', 'credential'] as const
const chatOnly = ['dataSources', 'maxTokensField', 'streamUsage'] as const
const connecting = [
  'endpoint',
  ...credentials,
  'credentialScope',
  'apiVersion',
  'timeoutMs',
  'fetch',
  'defaultHeaders',
] as const

type CheckedOptions = AzureConnectionSettings<unknown> & { readonly client?: unknown }

const rules: OptionRules<CheckedOptions> = {
  name: 'string?',
  model: 'any',
  middleware: 'any',
  api: 'any',
  endpoint: 'any',
  apiKey: 'any',
  azureADTokenProvider: 'any',
  credential: 'any',
  credentialScope: 'any',
  deployment: 'any',
  apiVersion: 'any',
  dataSources: 'any',
  maxTokensField: 'any',
  streamUsage: 'any',
  firstUpdateTimeoutMs: 'ms',
  idleTimeoutMs: 'ms',
  timeoutMs: 'ms',
  fetch: 'function?',
  defaultHeaders: 'any',
  client: 'any',
}

/** @throws TypeError or RangeError for options that can never work, with none of their secrets */
export function checkClientOptions(owner: string, options: CheckedOptions): void {
  checkOptions(owner, options, rules)
  const { api = 'chat', dataSources, client, defaultHeaders = {} } = options
  if (api !== 'chat' && api !== 'responses') {
    throw new TypeError(`${owner}: \`api\` must be 'chat' or 'responses', got ${show(api)}`)
  }
  for (const name of ['deployment', 'model', 'endpoint', 'apiVersion', 'apiKey'] as const) {
    const value: unknown = options[name]
    if (value !== undefined && (typeof value !== 'string' || value.trim() === '')) {
      const got = typeof value === 'string' ? 'an empty one' : typeof value
      throw new TypeError(`${owner}: \`${name}\` must be a text, got ${got}`)
    }
  }
  const misplaced = chatOnly.find((name) => api === 'responses' && options[name] !== undefined)
  if (misplaced) throw new TypeError(`${owner}: \`${misplaced}\` needs \`api: 'chat'\``)
  if (client !== undefined) checkNoClash(owner, options, connecting)
  const given = credentials.filter((name) => options[name] !== undefined)
  if (given.length > 1) {
    throw new TypeError(`${owner}: only one of \`${given.join('`, `')}\` can be given`)
  }
  if (options.azureADTokenProvider && typeof options.azureADTokenProvider !== 'function') {
    throw new TypeError(`${owner}: \`azureADTokenProvider\` must be a function`)
  }
  if (options.credential && typeof options.credential.getToken !== 'function') {
    throw new TypeError(`${owner}: \`credential\` must have a method \`getToken\``)
  }
  for (const [name, value] of Object.entries(defaultHeaders)) {
    checkHeader(`${owner}: \`defaultHeaders\`: the value of ${JSON.stringify(name)}`, value)
  }
  if (dataSources !== undefined) checkDataSources(owner, dataSources)
}

/** @throws TypeError for what is no list of data sources */
export function checkDataSources(
  owner: string,
  dataSources: unknown,
): asserts dataSources is readonly AzureDataSource[] {
  const isList = Array.isArray(dataSources) && dataSources.every(isDataSource)
  if (!isList) {
    throw new TypeError(
      `${owner}: \`dataSources\` must be a list of objects with \`type\` and \`parameters\``,
    )
  }
}

function isDataSource(value: unknown): boolean {
  return isObject(value) && typeof value['type'] === 'string' && isObject(value['parameters'])
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value)
}

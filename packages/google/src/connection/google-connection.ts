import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { RequestSender } from '@lamella/transport'
import {
  checkAddress,
  checkHeader,
  checkTimeLimits,
  environmentVariable,
  HttpClient,
} from '@lamella/transport'
import type { SafetySetting } from '../requests/google-provider-options.ts'
import type { GoogleChatClientOptions, VertexOptions } from './client-options.ts'
import { clientRules, owner } from './client-options.ts'

/** Parts of a client besides its model. */
export interface Connection {
  readonly sender: RequestSender
  readonly provider: string
  readonly isVertex: boolean
  readonly safetySettings: readonly SafetySetting[] | undefined
  readonly firstUpdateTimeoutMs: number
  readonly idleTimeoutMs: number
  /** Returns the path of a method of a model. */
  readonly pathOf: (model: string, method: string) => string
  /** Path of the cached contents. */
  readonly cachesPath: string
  /** Returns the full name of a model. */
  readonly nameOf: (model: string) => string
}

const connecting = ['apiKey', 'baseURL', 'timeoutMs', 'fetch', 'defaultHeaders'] as const

/** Checks the options and makes the sender. */
export function connect(options: GoogleChatClientOptions): Connection {
  checkOptions(owner, options, clientRules)
  const { vertex, safetySettings, timeoutMs } = options
  const { firstUpdateTimeoutMs = 600_000, idleTimeoutMs = 300_000 } = options
  checkTimeLimits(owner, { firstUpdateTimeoutMs, idleTimeoutMs, timeoutMs })
  if (safetySettings !== undefined && !Array.isArray(safetySettings)) {
    throw wrongOption(owner, 'safetySettings', 'a list', safetySettings)
  }
  return {
    sender: senderOf(options),
    provider: options.provider ?? (vertex ? 'google-vertex' : 'google'),
    isVertex: vertex !== undefined,
    safetySettings,
    firstUpdateTimeoutMs,
    idleTimeoutMs,
    ...namesOf(options),
  }
}

function namesOf({
  vertex,
  apiVersion,
}: GoogleChatClientOptions): Pick<Connection, 'pathOf' | 'cachesPath' | 'nameOf'> {
  const version = apiVersion ?? (vertex ? 'v1beta1' : 'v1beta')
  const nameOf = (model: string): string => (vertex ? vertexName(model, vertex) : geminiName(model))
  return {
    nameOf,
    pathOf: (model, method) => `/${version}/${nameOf(model)}:${method}`,
    cachesPath: `/${version}/${vertex ? `${placeOf(vertex)}/` : ''}cachedContents`,
  }
}

function geminiName(model: string): string {
  return model.includes('/') ? model : `models/${model}`
}

function vertexName(model: string, vertex: VertexOptions): string {
  if (model.startsWith('projects/')) return model
  return `${placeOf(vertex)}/${model.includes('/') ? model : `publishers/google/models/${model}`}`
}

function placeOf({ project, location = 'global' }: VertexOptions): string {
  return `projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`
}

function senderOf(options: GoogleChatClientOptions): RequestSender {
  const { vertex, client } = options
  if (client !== undefined) {
    const clash = connecting.find((name) => options[name] !== undefined)
    if (clash === undefined) return client
    throw new TypeError(`${owner}: \`${clash}\` belongs to the \`client\` that was given`)
  }
  return new HttpClient({
    baseURL: addressOf(options) ?? (vertex ? vertexAddress(vertex) : geminiAddress),
    apiKey: credentialOf(options),
    ...(vertex === undefined && { authorize: (key) => ({ 'x-goog-api-key': key }) }),
    headers: options.defaultHeaders,
    fetch: options.fetch,
    timeoutMs: options.timeoutMs,
    bodyTimeoutMs: options.idleTimeoutMs,
    // A redirect must not take the key elsewhere: only `Authorization` is dropped by fetch.
    followRedirects: vertex !== undefined,
  })
}

const geminiAddress = 'https://generativelanguage.googleapis.com'

function vertexAddress({ location = 'global' }: VertexOptions): string {
  if (!/^[a-z0-9-]+$/.test(location)) {
    throw wrongOption(owner, 'vertex.location', 'the name of a region', location)
  }
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  const isContinent = location === 'us' || location === 'eu'
  return isContinent
    ? `https://aiplatform.${location}.rep.googleapis.com`
    : `https://${location}-aiplatform.googleapis.com`
}

/** A key, or a function that returns a key or a token. */
function credentialOf({
  apiKey,
  vertex,
}: GoogleChatClientOptions): string | (() => Promise<string>) {
  if (vertex !== undefined) {
    if (apiKey) throw new TypeError(`${owner}: pass \`apiKey\` or \`vertex\`, not both`)
    return async () => checkedKey('vertex.token', await vertex.token())
  }
  if (typeof apiKey === 'function') return async () => checkedKey('apiKey', await apiKey())
  if (apiKey) return checkedKey('apiKey', apiKey)
  for (const name of ['GEMINI_API_KEY', 'GOOGLE_API_KEY']) {
    const keyThere = environmentVariable(name)
    if (keyThere) return checkedKey(name, keyThere)
  }
  throw new TypeError(`${owner}: no API key; pass \`apiKey\` or set the variable GEMINI_API_KEY`)
}

function checkedKey(name: string, key: unknown): string {
  if (typeof key !== 'string' || key === '') throw wrongOption(owner, name, 'a string', key, true)
  checkHeader(`${owner}: \`${name}\``, key)
  return key
}

/** Returns the address of the option or the environment, if there is one. */
function addressOf({ baseURL, vertex }: GoogleChatClientOptions): string | undefined {
  const address = baseURL ?? (vertex ? undefined : environmentVariable('GOOGLE_GEMINI_BASE_URL'))
  if (address) checkAddress(`${owner}: \`baseURL\``, address)
  return address || undefined
}

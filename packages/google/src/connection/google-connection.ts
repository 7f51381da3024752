import { checkOptions, isObject, wrongOption } from '@lamella/core/authoring'
import type { RequestSender } from '@lamella/transport'
import {
  checkAddress,
  checkHeader,
  checkNoClash,
  environmentVariable,
  HttpClient,
} from '@lamella/transport'
import type { ContentCaching } from '../caching/content-caching.ts'
import type { SafetySetting } from '../requests/google-provider-options.ts'
import type { GoogleChatClientOptions, VertexOptions } from './client-options.ts'
import { clientRules, owner } from './client-options.ts'

/** Parts of a client besides its model. */
export interface Connection {
  readonly sender: RequestSender
  readonly provider: string
  readonly isVertex: boolean
  readonly safetySettings: readonly SafetySetting[] | undefined
  readonly caching: ContentCaching | undefined
  readonly firstUpdateTimeoutMs: number
  readonly idleTimeoutMs: number
  /** Returns the path of a method of a model. */
  readonly pathOf: (model: string, method: string) => string
}

const connecting = ['apiKey', 'baseURL', 'timeoutMs', 'fetch', 'defaultHeaders'] as const

/** Checks the options and makes the sender. */
export function connect(options: GoogleChatClientOptions): Connection {
  checkOptions(owner, options, clientRules)
  const { vertex, safetySettings, caching } = options
  const { apiVersion: version = vertex ? 'v1beta1' : 'v1beta' } = options
  const { firstUpdateTimeoutMs = 600_000, idleTimeoutMs = 300_000 } = options
  if (vertex !== undefined && !isObject(vertex)) {
    throw wrongOption(owner, 'vertex', 'an object', vertex, true)
  }
  if (safetySettings !== undefined && !Array.isArray(safetySettings)) {
    throw wrongOption(owner, 'safetySettings', 'a list', safetySettings)
  }
  return {
    sender: senderOf(options),
    provider: options.provider ?? (vertex ? 'google-vertex' : 'google'),
    isVertex: vertex !== undefined,
    safetySettings,
    caching,
    firstUpdateTimeoutMs,
    idleTimeoutMs,
    pathOf: (model, method) =>
      `/${version}/${vertex ? vertexName(model, vertex) : geminiName(model)}:${method}`,
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
    checkNoClash(owner, options, connecting)
    return client
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

import type { ModelInfo, Provider } from '@pydantic/genai-prices'
import { calcPrice, findProvider } from '@pydantic/genai-prices'
import { covers } from './covers.ts'

/** A model of the source. */
export interface FoundModel {
  /** Name that the source knows. */
  readonly name: string
  /** Provider that sells it, with this model alone, so that it is found at once. */
  readonly seller: Provider
  readonly info: ModelInfo
}

/** Finds the model that a provider's or gateway's name means; `undefined` rather than a similar one. */
export function findModel(provider: string | undefined, model: string): FoundModel | undefined {
  if (model.length > longestName) return undefined
  const key = JSON.stringify([provider, model])
  const known = found.get(key)
  if (known !== undefined || found.has(key)) return known
  const answer = resolve(provider?.toLowerCase(), model.toLowerCase())
  // Names come from configuration and from answers; a flood of them must not fill the memory.
  if (found.size >= mostNames) found.clear()
  found.set(key, answer)
  return answer
}

function resolve(provider: string | undefined, model: string): FoundModel | undefined {
  const name = model.replace(path, '')
  const seller = provider === undefined ? undefined : sellerOf(provider)
  const own = seller === undefined ? undefined : atSeller(seller, name)
  if (own !== undefined || !isGateway(provider)) return own
  const slash = name.indexOf('/')
  if (slash > 0) return resolveAt(name.slice(0, slash), name.slice(slash + 1))
  return provider === undefined ? atSeller(undefined, name) : undefined
}

function resolveAt(provider: string, name: string): FoundModel | undefined {
  const seller = sellerOf(provider)
  return seller === undefined ? undefined : atSeller(seller, name)
}

function atSeller(seller: string | undefined, name: string): FoundModel | undefined {
  const options = seller === undefined ? {} : { providerId: seller }
  const price = calcPrice({ input_tokens: 1 }, name, options)
  if (price === null || !covers(price.model.match, name)) return undefined
  return { name, seller: { ...price.provider, models: [price.model] }, info: price.model }
}

/** The source's id of a provider. Clients add the API to it, such as `anthropic.messages`. */
function sellerOf(provider: string): string | undefined {
  const [first = ''] = provider.split('.')
  const id = Object.hasOwn(otherNames, first) ? otherNames[first]! : first.replaceAll('_', '-')
  // The source finds providers by parts of their names as well, and `my-anthropic-proxy` is another seller.
  return findProvider({ providerId: id })?.id === id ? id : undefined
}

/** A server of OpenAI's API may be a gateway, whose names begin with the provider. */
function isGateway(provider: string | undefined): boolean {
  return provider === undefined || gateways.includes(provider.split('.')[0]!)
}

const gateways = ['openai', 'openai-compatible', 'gateway', 'vercel', 'litellm', 'portkey']

const otherNames: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws',
  bedrock: 'aws',
  'azure-openai': 'azure',
  gemini: 'google',
  'google-vertex': 'google',
  'vertex-ai': 'google',
  vertex: 'google',
  vertex_ai: 'google',
  gcp: 'google',
  xai: 'x-ai',
  togetherai: 'together',
  'together-ai': 'together',
  together_ai: 'together',
}

/** Paths of Google's names, and the ARN of a profile or model of Bedrock. */
const path = /^(?:models\/|(?:projects\/.*\/)?publishers\/[^/]+\/models\/|arn:aws[^/]*\/)/

const found = new Map<string, FoundModel | undefined>()
const mostNames = 1_000
const longestName = 300

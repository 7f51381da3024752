import type { ChatRequest } from '@lamella/core'
import type { OpenAIProviderOptions } from '@lamella/openai'
import type { AzureDataSource } from './azure-data-source.ts'
import { checkDataSources } from './check-client-options.ts'

/**
 * Options of a call, passed as `providerOptions: { 'azure-openai': { … } }`: those of OpenAI, and
 * data sources.
 */
export type AzureOpenAIProviderOptions = OpenAIProviderOptions & {
  /** Data sources of this call, which replace the client's. */
  readonly dataSources?: readonly AzureDataSource[] | undefined
}

/**
 * The data sources of a call, and the request without them.
 * @throws TypeError for what is no list of data sources
 */
export function takeDataSources(
  request: ChatRequest,
  provider: string,
): { readonly request: ChatRequest; readonly dataSources?: readonly AzureDataSource[] } {
  const { options } = request
  const own: Readonly<Record<string, unknown>> | undefined = options.providerOptions?.[provider]
  if (own === undefined || !('dataSources' in own)) return { request }
  const { dataSources, ...rest } = own
  const providerOptions = { ...options.providerOptions, [provider]: rest }
  const without = { ...request, options: { ...options, providerOptions } }
  if (dataSources === undefined) return { request: without }
  checkDataSources(`providerOptions.${provider}`, dataSources)
  return { request: without, dataSources }
}

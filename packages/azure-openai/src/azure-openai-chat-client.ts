import { deploymentOf } from './connection/azure-connection.ts'
import type { AzureDataSource } from './connection/azure-data-source.ts'
import { checkClientOptions } from './connection/check-client-options.ts'
import { AzureOpenAIChatClient as FetchClient } from './fetch/azure-openai-chat-client.ts'
import type { AzureOpenAIClientOptions } from './sdk-sender.ts'
import { azureSdkSender } from './sdk-sender.ts'

const owner = 'AzureOpenAIChatClient'

/**
 * Models that are deployed on Azure, through Chat Completions or the Responses API, on
 * OpenAI's SDK.
 *
 * @example
 * ```ts
 * import { AzureOpenAIChatClient } from '@lamella/azure-openai'
 *
 * const client = new AzureOpenAIChatClient({
 *   endpoint: 'https://name.openai.azure.com',
 *   apiKey: 'my-key',
 *   deployment: 'chat-prod',
 * })
 * const answer = () => client.getResponse('Why is the sky blue?')
 * ```
 */
export class AzureOpenAIChatClient extends FetchClient {
  /** @throws TypeError without an endpoint or a credential, or for options that do not go together */
  constructor(options: AzureOpenAIClientOptions = {}) {
    checkClientOptions(owner, options)
    // Not by `instanceof`: it may be of another copy of the SDK.
    const { deploymentName } = (options.client ?? {}) as { readonly deploymentName?: string }
    super({
      ...options,
      // The types of `@azure/openai` leave open which authentication there is. It is sent as given.
      dataSources: options.dataSources as readonly AzureDataSource[] | undefined,
      deployment: deploymentOf(options, deploymentName),
      endpoint: undefined,
      apiKey: undefined,
      azureADTokenProvider: undefined,
      credential: undefined,
      credentialScope: undefined,
      apiVersion: undefined,
      timeoutMs: undefined,
      fetch: undefined,
      defaultHeaders: undefined,
      client: azureSdkSender(owner, options),
    })
  }
}

import type { RequestSender } from '@lamella/transport'
import { longestTimerMs } from '@lamella/core/authoring'
import { boundedFailures, sdkSender } from '@lamella/openai'
import { AzureOpenAI, OpenAI } from 'openai'
import type { AzureDataSource } from './azure-extensions.ts'
import { azureResource } from './connection/azure-connection.ts'
import type { AzureConnectionSettings } from './connection/azure-openai-client-options.ts'

/** Options of `AzureOpenAIChatClient`. */
export interface AzureOpenAIClientOptions extends AzureConnectionSettings<AzureDataSource> {
  /** Your own `AzureOpenAI` client. Excludes the options that would create one. */
  readonly client?: OpenAI | undefined
}

/** The sender of the application's SDK client, or of a new one. */
export function azureSdkSender(owner: string, options: AzureOpenAIClientOptions): RequestSender {
  return sdkSender(options.client ?? sdkClient(owner, options))
}

function sdkClient(owner: string, options: AzureOpenAIClientOptions): OpenAI {
  const { timeoutMs, defaultHeaders, fetch } = options
  const { baseURL, apiVersion, isV1, token, key } = azureResource(owner, options)
  const common = {
    baseURL,
    organization: null,
    project: null,
    adminAPIKey: null,
    ...(timeoutMs !== undefined && { timeout: Math.min(timeoutMs, longestTimerMs) }),
    fetch: boundedFailures(fetch, options.idleTimeoutMs),
  }
  if (!isV1) {
    return new AzureOpenAI({
      ...common,
      // Not undefined, for which the SDK would take the variable and refuse to have both.
      apiKey: (key ?? null) as string,
      azureADTokenProvider: token,
      apiVersion,
      ...(defaultHeaders !== undefined && { defaultHeaders }),
    })
  }
  // The SDK's Azure client would put the deployment into the path, where v1 has none.
  return new OpenAI({
    ...common,
    apiKey: token ?? key ?? null,
    // A redirect must not take the key elsewhere: only `Authorization` is dropped by fetch.
    ...(key !== undefined && { fetchOptions: { redirect: 'manual' as const } }),
    defaultHeaders: {
      ...(key !== undefined && { authorization: null, 'api-key': key }),
      ...defaultHeaders,
    },
    ...(apiVersion !== undefined && { defaultQuery: { 'api-version': apiVersion } }),
  })
}

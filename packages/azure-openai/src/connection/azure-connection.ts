import { checkHeader, longestTimerMs } from '@lamella/core/transport'
import { boundedFailures } from '@lamella/openai'
import { AzureOpenAI, OpenAI } from 'openai'
import { azureAddress } from './azure-address.ts'
import type { AzureOpenAIClientOptions } from './azure-openai-client-options.ts'
import { tokenSource } from './azure-token.ts'

export const provider = 'azure-openai'

/** The SDK's client. Variables that are meant for OpenAI itself have no say in where it goes. */
export function azureSdkClient(owner: string, options: AzureOpenAIClientOptions): OpenAI {
  if (options.client !== undefined) return options.client
  const { timeoutMs, defaultHeaders, fetch } = options
  const endpoint = options.endpoint?.trim() ?? environment('AZURE_OPENAI_ENDPOINT')
  if (endpoint === undefined) {
    throw new TypeError(
      `${owner}: no endpoint; pass \`endpoint\` or set the variable AZURE_OPENAI_ENDPOINT`,
    )
  }
  const address = azureAddress(owner, {
    endpoint,
    asked: options.apiVersion?.trim(),
    usual: environment('OPENAI_API_VERSION'),
  })
  const token = tokenSource(options, provider)
  const key = token === undefined ? keyOf(owner, options) : undefined
  const common = {
    baseURL: address.baseURL,
    organization: null,
    project: null,
    adminAPIKey: null,
    ...(timeoutMs !== undefined && { timeout: Math.min(timeoutMs, longestTimerMs) }),
    fetch: boundedFailures(fetch, options.idleTimeoutMs),
  }
  if (!address.isV1) {
    return new AzureOpenAI({
      ...common,
      // Not undefined, for which the SDK would take the variable and refuse to have both.
      apiKey: (key ?? null) as string,
      azureADTokenProvider: token,
      apiVersion: address.apiVersion,
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
    ...(address.apiVersion !== undefined && {
      defaultQuery: { 'api-version': address.apiVersion },
    }),
  })
}

/** The deployment that is called where a call names no other. */
export function deploymentOf({
  deployment,
  model,
  client,
}: AzureOpenAIClientOptions): string | undefined {
  return (
    deployment ??
    // Not by `instanceof`: it may be of another copy of the SDK.
    (client as Partial<AzureOpenAI> | undefined)?.deploymentName ??
    model ??
    environment('AZURE_OPENAI_DEPLOYMENT') ??
    environment('AZURE_OPENAI_DEPLOYMENT_NAME')
  )
}

function keyOf(owner: string, { apiKey }: AzureOpenAIClientOptions): string {
  const key = apiKey?.trim() ?? environment('AZURE_OPENAI_API_KEY')
  if (key === undefined) {
    throw new TypeError(
      `${owner}: no credential; pass \`apiKey\`, \`azureADTokenProvider\` or \`credential\`, or set the variable AZURE_OPENAI_API_KEY`,
    )
  }
  checkHeader(`${owner}: the API key`, key)
  return key
}

function environment(name: string): string | undefined {
  return globalThis.process?.env?.[name]?.trim() || undefined
}

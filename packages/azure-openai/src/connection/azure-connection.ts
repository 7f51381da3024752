import type { AzureAddress } from './azure-address.ts'
import { azureAddress } from './azure-address.ts'
import type { AzureConnectionSettings } from './azure-openai-client-options.ts'
import { tokenSource } from './azure-token.ts'
import { checkHeader, environmentVariable } from '@lamella/transport'

export const provider = 'azure-openai'

/** Address and credential of a resource: a token or a key, never both. */
export interface AzureResource extends AzureAddress {
  readonly token: (() => Promise<string>) | undefined
  readonly key: string | undefined
}

/** Reads where and as whom to call. Variables that are meant for OpenAI itself have no say in it. */
export function azureResource(
  owner: string,
  options: AzureConnectionSettings<unknown>,
): AzureResource {
  const endpoint = options.endpoint?.trim() ?? environmentVariable('AZURE_OPENAI_ENDPOINT')
  if (endpoint === undefined) {
    throw new TypeError(
      `${owner}: no endpoint; pass \`endpoint\` or set the variable AZURE_OPENAI_ENDPOINT`,
    )
  }
  const address = azureAddress(owner, {
    endpoint,
    asked: options.apiVersion?.trim(),
    usual: environmentVariable('OPENAI_API_VERSION'),
  })
  const token = tokenSource(options, provider)
  const key = token === undefined ? keyOf(owner, options) : undefined
  return { ...address, token, key }
}

/** The deployment that is called where a call names no other. */
export function deploymentOf(
  { deployment, model }: AzureConnectionSettings<unknown>,
  ofClient?: string,
): string | undefined {
  return (
    deployment ??
    ofClient ??
    model ??
    environmentVariable('AZURE_OPENAI_DEPLOYMENT') ??
    environmentVariable('AZURE_OPENAI_DEPLOYMENT_NAME')
  )
}

function keyOf(owner: string, { apiKey }: AzureConnectionSettings<unknown>): string {
  const key = apiKey?.trim() ?? environmentVariable('AZURE_OPENAI_API_KEY')
  if (key === undefined) {
    throw new TypeError(
      `${owner}: no credential; pass \`apiKey\`, \`azureADTokenProvider\` or \`credential\`, or set the variable AZURE_OPENAI_API_KEY`,
    )
  }
  checkHeader(`${owner}: the API key`, key)
  return key
}

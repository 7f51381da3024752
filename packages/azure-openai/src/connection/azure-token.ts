import { isProviderError, ProviderError } from '@lamella/core'
import { isHeaderValue, unfitForHeader } from '@lamella/transport'
import type { AzureConnectionSettings } from './azure-openai-client-options.ts'

const usualScope = 'https://cognitiveservices.azure.com/.default'

/** Returns the source of a token before each request, or nothing if a key is used. */
export function tokenSource(
  {
    azureADTokenProvider,
    credential,
    credentialScope = usualScope,
  }: AzureConnectionSettings<unknown>,
  provider: string,
): (() => Promise<string>) | undefined {
  if (credential !== undefined) {
    return () => checked(async () => (await credential.getToken(credentialScope))?.token, provider)
  }
  return azureADTokenProvider && (() => checked(azureADTokenProvider, provider))
}

async function checked(ask: () => Promise<unknown>, provider: string): Promise<string> {
  let given: unknown
  try {
    given = await ask()
  } catch (error) {
    if (isProviderError(error)) throw error
    // Its message may hold secrets, its name says enough, such as CredentialUnavailableError.
    const { name } = error instanceof Error ? error : { name: '' }
    const code = /^[A-Za-z]{1,64}$/.test(name) ? name : undefined
    throw noToken(`could not be had${code === undefined ? '' : ` (${code})`}`, provider, code)
  }
  const token = typeof given === 'string' ? given.trim() : ''
  if (token === '') throw noToken('is missing', provider)
  if (isHeaderValue(token)) return token
  throw noToken(unfitForHeader, provider)
}

function noToken(what: string, provider: string, code?: string): ProviderError {
  return new ProviderError(`${provider}: the Entra token ${what}`, {
    kind: 'auth',
    provider,
    ...(code !== undefined && { details: { code } }),
  })
}

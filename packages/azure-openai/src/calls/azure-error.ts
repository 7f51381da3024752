import { isProviderError, ProviderError } from '@lamella/core'
import { azureContentFilter } from '../answers/azure-content-filter.ts'
import type { AzureDataSource } from '../connection/azure-data-source.ts'
import { ContentFilterFold } from '../answers/content-filter-fold.ts'
import { isObject } from '@lamella/core/authoring'

/** An error of a call in Azure's terms: the filter's verdict typed, no key of a data source. */
export function toAzureError(error: unknown, dataSources: readonly AzureDataSource[]): unknown {
  if (!isProviderError(error)) return error
  const message = error.message.replaceAll('`baseURL`', '`endpoint`')
  const details = error.kind === 'content_filter' ? filterDetails(error) : error.details
  const cause = withoutSecrets(error.cause, dataSources)
  if (message === error.message && details === error.details && cause === error.cause) return error
  const { kind, provider, status, retry, requestId, partial } = error
  return new ProviderError(message, {
    kind,
    provider,
    status,
    retry,
    requestId,
    partial,
    details,
    ...(cause !== undefined && { cause }),
  })
}

function filterDetails({ details, partial }: ProviderError): Readonly<Record<string, unknown>> {
  const fold = new ContentFilterFold()
  const known = azureContentFilter(partial)
  if (known !== undefined) fold.addVerdict(known)
  fold.addReport(details?.['contentFilter'])
  return { ...details, contentFilter: fold.verdict() }
}

function withoutSecrets(cause: unknown, dataSources: readonly AzureDataSource[]): unknown {
  if (dataSources.length === 0 || !(cause instanceof Error)) return cause
  let { message } = cause
  for (const secret of secretsOf(dataSources)) message = message.replaceAll(secret, '[key]')
  return message === cause.message ? cause : new Error(message)
}

const secretNames = /^(key|access_token|connection_string|encoded_api_key|password)$/

function secretsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(secretsOf)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, field]) =>
    typeof field !== 'string' ? secretsOf(field) : secretNames.test(name) && field ? [field] : [],
  )
}

import type { ApiRequest, RequestSender } from '@lamella/transport'
import { HttpClient, recordOf, stringOf } from '@lamella/transport'
import { azureResource } from './azure-connection.ts'
import type { AzureConnectionSettings } from './azure-openai-client-options.ts'

/** Makes the sender of a client without the SDK. */
export function httpSender(owner: string, options: AzureConnectionSettings): RequestSender {
  const { baseURL, apiVersion, isV1, token, key } = azureResource(owner, options)
  return new HttpClient({
    baseURL,
    apiKey: token ?? key,
    ...(token === undefined && { authorize: (value) => ({ 'api-key': value }) }),
    headers: options.defaultHeaders,
    ...(apiVersion !== undefined && { query: { 'api-version': apiVersion } }),
    ...(!isV1 && { pathOf: deploymentPath }),
    fetch: options.fetch,
    timeoutMs: options.timeoutMs,
    bodyTimeoutMs: options.idleTimeoutMs,
    // A redirect must not take the key elsewhere: only `Authorization` is dropped by fetch.
    followRedirects: token !== undefined,
  })
}

/** In dated versions, the deployment is a part of the path, except for the Responses API. */
function deploymentPath({ path, body }: ApiRequest): string {
  const model = stringOf(recordOf(body)['model'])
  if (path !== '/chat/completions' || model === undefined) return path
  return `/deployments/${encodeURIComponent(model)}${path}`
}

/** Address of requests. */
export interface AzureAddress {
  /** With `/openai` or `/openai/v1`. */
  readonly baseURL: string
  /** For the parameter `api-version`. */
  readonly apiVersion: string | undefined
  /** The API without versions: deployments are named in the body only. */
  readonly isV1: boolean
}

/** The last of the dated versions: reasoning, the Responses API and data sources are all in it. */
const defaultApiVersion = '2025-04-01-preview'

/**
 * Reads an endpoint and a version. `v1` has no version in its addresses; `preview` and `latest` are
 * names that v1 knows.
 * @throws TypeError for an address or a version that Azure has not. The address is not repeated: it
 * may hold secrets.
 */
export function azureAddress(
  owner: string,
  {
    endpoint,
    asked,
    usual,
  }: {
    readonly endpoint: string
    readonly asked?: string | undefined
    readonly usual?: string | undefined
  },
): AzureAddress {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new TypeError(
      `${owner}: \`endpoint\` must be an address that begins with https://, such as https://name.openai.azure.com`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`${owner}: \`endpoint\` must not hold a user name or password`)
  }
  if (url.search !== '' || url.hash !== '' || /\/deployments(\/|$)/.test(url.pathname)) {
    throw new TypeError(
      `${owner}: \`endpoint\` must be the address of the resource, without deployment and api-version`,
    )
  }
  const [, path = '', v1] = /^(.*?)(?:\/openai(\/v1)?)?\/*$/.exec(url.pathname) ?? []
  const apiVersion = asked ?? (v1 ? 'v1' : (usual ?? defaultApiVersion))
  if (!/^(v1|preview|latest|\d{4}-\d{2}-\d{2}(-[a-z]+)?)$/.test(apiVersion)) {
    throw new TypeError(
      `${owner}: \`apiVersion\` must be a date such as ${defaultApiVersion}, or v1, got ${JSON.stringify(apiVersion)}`,
    )
  }
  const base = `${url.origin}${path.replace(/\/+$/, '')}/openai`
  if (/^\d/.test(apiVersion)) return { baseURL: base, apiVersion, isV1: false }
  const version = apiVersion === 'v1' ? undefined : apiVersion
  return { baseURL: `${base}/v1`, apiVersion: version, isV1: true }
}

import { HttpFailure } from './http-failure.ts'

/**
 * Refuses requests that another site made a browser send, by `sec-fetch-site`. Browsers without it
 * send `origin`, and other programs send neither.
 * @throws HttpFailure 403 `origin_forbidden`
 */
export function checkOrigin({ headers, url }: Request, allowed: readonly string[]): void {
  const origin = headers.get('origin')
  if (origin !== null && isAllowed(origin, allowed)) return
  const site = headers.get('sec-fetch-site')
  if (site === 'same-origin' || site === 'none') return
  if (site === null && (origin === null || hostOf(origin) === (headers.get('host') ?? hostOf(url))))
    return
  throw new HttpFailure('requests of this origin are not allowed', {
    status: 403,
    code: 'origin_forbidden',
  })
}

/** Headers that let pages of allowed origins read the response. */
export function corsHeaders(
  { headers }: Request,
  allowed: readonly string[],
): Record<string, string> {
  const origin = headers.get('origin')
  if (allowed.length === 0) return {}
  const vary = { vary: 'origin' }
  if (origin === null || !isAllowed(origin, allowed)) return vary
  const isListed = allowed.includes(origin)
  return {
    ...vary,
    'access-control-allow-origin': isListed ? origin : '*',
    // A wildcard never allows cookies.
    ...(isListed && { 'access-control-allow-credentials': 'true' }),
    'access-control-expose-headers': 'retry-after',
  }
}

/** Answers the preflight request of a browser for another origin. */
export function preflight(request: Request, allowed: readonly string[]): Response {
  const granted = corsHeaders(request, allowed)
  const asked = request.headers.get('access-control-request-headers')
  if (granted['access-control-allow-origin'] === undefined) {
    return new Response(null, { status: 403, headers: granted })
  }
  return new Response(null, {
    status: 204,
    headers: {
      ...granted,
      'access-control-allow-methods': 'GET, POST, DELETE',
      ...(asked !== null && { 'access-control-allow-headers': asked }),
      'access-control-max-age': '600',
    },
  })
}

function isAllowed(origin: string, allowed: readonly string[]): boolean {
  return allowed.includes(origin) || allowed.includes('*')
}

function hostOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).host : undefined
}

import { checkOrigin, corsHeaders, preflight } from '../http/check-origin.ts'
import { dropBody } from '../http/drop-body.ts'
import { failureOf } from '../http/failure-of.ts'
import { HttpFailure } from '../http/http-failure.ts'
import type { ChatServiceOptions, FailureFacts } from './chat-options.ts'
import type { Principal } from './principal.ts'

/** A web-standard handler, which Hono, Next, Bun, Deno and workers call with a request. */
export type Handler = (request: Request) => Promise<Response>

/** One request of a known sender. */
export interface Visit {
  readonly request: Request
  readonly url: URL
  readonly owner: Principal
}

/** Rules for access, and the form of a refusal. */
export interface Door extends Pick<ChatServiceOptions, 'principal' | 'allowedOrigins'> {
  /** Body of a response with this failure. */
  readonly failure: (failure: HttpFailure) => unknown
  /** Receives failures of the server itself. */
  readonly report: (error: unknown, facts: FailureFacts) => void
  /** Masks an error. */
  readonly mask?: (error: unknown) => HttpFailure
}

/** Creates a handler whose routes get requests of known senders, and whose failures are masked. */
export function guardedHandler(
  { principal, allowedOrigins = [], failure: bodyOf, report, mask = failureOf }: Door,
  route: (visit: Visit) => Promise<Response>,
): Handler {
  return async (request) => {
    if (request.method === 'OPTIONS') return preflight(request, allowedOrigins)
    const cors = corsHeaders(request, allowedOrigins)
    try {
      if (request.method !== 'GET') checkOrigin(request, allowedOrigins)
      const who = await principal(request)
      if (who === undefined || who === '') {
        throw new HttpFailure('the sender is not known', { status: 401, code: 'unauthorized' })
      }
      const owner = typeof who === 'string' ? { id: who } : who
      const response = await route({ request, url: new URL(request.url), owner })
      for (const [name, value] of Object.entries(cors)) response.headers.set(name, value)
      return response
    } catch (error) {
      const failure = mask(error)
      if (failure !== error && failure.status >= 500) report(error, {})
      await dropBody(request)
      return Response.json(bodyOf(failure), {
        status: failure.status,
        headers: { ...cors, ...failure.headers(), 'cache-control': 'no-store' },
      })
    }
  }
}

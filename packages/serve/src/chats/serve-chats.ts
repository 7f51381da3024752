import type { ChunkSource } from '../http/event-body.ts'
import { eventBody } from '../http/event-body.ts'
import { checkOrigin, corsHeaders, preflight } from '../http/check-origin.ts'
import { failureOf } from '../http/failure-of.ts'
import { HttpFailure } from '../http/http-failure.ts'
import type { ChatRun } from './chat-run.ts'
import { failureAtOnce } from './chat-run.ts'
import type { ChatService } from './chat-service.ts'
import type { Demand } from './demand.ts'
import { LiveRun } from './live-run.ts'
import type { Principal } from './principal.ts'
import { placeOf } from './principal.ts'
import type { Encoder } from './shown.ts'

/** A web-standard handler: what Hono, Next, Bun, Deno and workers call with a request. */
export type Handler = (request: Request) => Promise<Response>

/** How a protocol speaks HTTP. */
export interface Protocol {
  /** Headers of its streams. */
  readonly headers?: Readonly<Record<string, string>>
  /** Body of a response with this failure. */
  failure(failure: HttpFailure): unknown
}

/** One request of a known sender. */
export interface Visit {
  readonly request: Request
  readonly url: URL
  readonly owner: Principal
}

const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** The HTTP side of a service for one protocol: who asks, what may be read, and how failures look. */
export class ChatServer {
  readonly service: ChatService
  readonly #protocol: Protocol
  readonly #live = new Map<string, LiveRun>()

  constructor(service: ChatService, protocol: Protocol) {
    this.service = service
    this.#protocol = protocol
  }

  /** Makes the handler: routes get requests whose sender is known. */
  handler(route: (visit: Visit) => Promise<Response>): Handler {
    const { service } = this
    const { allowedOrigins = [], principal } = service.options
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
        const failure = failureOf(error)
        if (failure !== error && failure.status >= 500) service.report(error, {})
        return this.refuse(failure, cors)
      }
    }
  }

  refuse(failure: HttpFailure, headers: Readonly<Record<string, string>> = {}): Response {
    return Response.json(this.#protocol.failure(failure), {
      status: failure.status,
      headers: { ...headers, ...failure.headers(), 'cache-control': 'no-store' },
    })
  }

  /** Starts a run, and streams it once it is known that it does not fail at once. */
  async run(visit: Visit, demand: Demand, body: unknown, encoder: Encoder): Promise<Response> {
    const run = await this.start(visit, demand, body)
    const { request, owner } = visit
    const { onDisconnect = 'cancel' } = this.service.options
    if (onDisconnect === 'continue') {
      return this.#stream(this.#publish(run, owner, demand.chat, encoder).read())
    }
    const source: ChunkSource = {
      next: async () => {
        const shown = await run.next()
        return shown === undefined ? undefined : encoder.encode(shown)
      },
      cancel: (reason) => void run.cancel(reason),
    }
    request.signal.addEventListener('abort', () => source.cancel(request.signal.reason), {
      once: true,
    })
    return this.#stream(source)
  }

  /** Starts a run. One that fails or ends without content because of a budget throws its failure. */
  async start({ request, owner }: Visit, demand: Demand, body: unknown): Promise<ChatRun> {
    const { service } = this
    const { headersAfterMs = 10_000, run: optionsOf } = service.options
    const options = (await optionsOf?.(request, body, owner)) ?? {}
    const run = await service.begin(owner, demand, options)
    if (request.signal.aborted) await run.cancel(request.signal.reason)
    const failure = failureAtOnce(await run.first(headersAfterMs))
    if (failure === undefined) return run
    await run.cancel(failure)
    throw failure
  }

  /** Streams a run that continues, from its first chunk. Undefined if none runs here. */
  replay({ owner }: Visit, chat: string): Response | undefined {
    const live = this.#live.get(keyOf(owner, chat))
    return live && this.#stream(live.read())
  }

  #publish(run: ChatRun, owner: Principal, chat: string, encoder: Encoder): LiveRun {
    const { maxReplayChars = 5_000_000, replayMs = 60_000 } = this.service.options
    const live = new LiveRun(maxReplayChars)
    const key = keyOf(owner, chat)
    this.#live.set(key, live)
    const pump = async (): Promise<void> => {
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop
        const shown = await run.next()
        if (shown === undefined) break
        if (live.add(encoder.encode(shown))) continue
        const failure = new HttpFailure('the run is too long to be kept', {
          status: 500,
          code: 'replay_overflow',
        })
        live.add(encoder.encode({ type: 'failed', failure }), true)
        // oxlint-disable-next-line no-await-in-loop
        await run.cancel(failure)
        break
      }
      live.end()
      const forget = setTimeout(() => {
        if (this.#live.get(key) === live) this.#live.delete(key)
      }, replayMs) as unknown as { unref?: () => void }
      forget.unref?.()
    }
    void pump()
    return live
  }

  #stream(source: ChunkSource): Response {
    const { keepAliveMs = 15_000, readerTimeoutMs = 60_000 } = this.service.options
    const body = eventBody(source, { keepAliveMs, readerTimeoutMs })
    return new Response(body, { headers: { ...eventHeaders, ...this.#protocol.headers } })
  }
}

function keyOf(owner: Principal, chat: string): string {
  return JSON.stringify([placeOf(owner), chat])
}

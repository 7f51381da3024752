import { LamellaError } from '@lamella/core'
import type { ChunkSource } from '../http/event-body.ts'
import { eventBody } from '../http/event-body.ts'
import { failureOf } from '../http/failure-of.ts'
import { HttpFailure } from '../http/http-failure.ts'
import type { BodyLimits } from '../http/read-json.ts'
import type { ChatServiceOptions } from './chat-options.ts'
import type { ChatRun } from './chat-run.ts'
import { failureAtOnce, withinMs } from './chat-run.ts'
import type { ChatService } from './chat-service.ts'
import type { Demand } from './demand.ts'
import type { Door, Handler, Visit } from './guarded-handler.ts'
import { guardedHandler } from './guarded-handler.ts'
import type { LiveRun } from './live-run.ts'
import { LiveRuns } from './live-runs.ts'
import type { Principal } from './principal.ts'
import { sessionIdOf } from './principal.ts'
import { refusalOf, shownDelivery } from './shown-delivery.ts'
import type { Encoder } from './shown.ts'

/** The chat that a run is of. */
interface ChatFacts {
  readonly chat: string
  readonly principal: Principal
}

/** HTTP details of a protocol. */
export interface Protocol {
  /** Headers of its streams. */
  readonly headers?: Readonly<Record<string, string>>
  /** Body of a response with this failure. */
  failure(failure: HttpFailure): unknown
}

/** Limits of bodies, from the options of a service. */
export function bodyLimits({ maxBodyBytes, bodyTimeoutMs }: ChatServiceOptions): BodyLimits {
  return { maxBodyBytes: maxBodyBytes ?? 1_000_000, bodyTimeoutMs: bodyTimeoutMs ?? 30_000 }
}

const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** The HTTP side of a service for one protocol: senders, limits, and the form of failures. */
export class ChatServer {
  readonly service: ChatService
  readonly #protocol: Protocol
  readonly #live: LiveRuns

  constructor(service: ChatService, protocol: Protocol) {
    if (typeof service?.history !== 'function') {
      throw new TypeError(
        'the handler needs a chat service: pass `chatService(agent, { principal })`',
      )
    }
    this.service = service
    this.#protocol = protocol
    this.#live = new LiveRuns(service.options)
  }

  /** Makes the handler: routes get requests whose sender is known. */
  handler(route: (visit: Visit) => Promise<Response>): Handler {
    const { service } = this
    const { principal, allowedOrigins } = service.options
    const failure = (refusal: HttpFailure): unknown => this.#protocol.failure(refusal)
    const report: Door['report'] = (error, facts) => service.report(error, facts)
    return guardedHandler({ principal, allowedOrigins, failure, report }, route)
  }

  /** Starts a run, and streams it if it does not fail at once. */
  async run(visit: Visit, demand: Demand, body: unknown, encoder: Encoder): Promise<Response> {
    let run: ChatRun
    try {
      run = await this.start(visit, demand, body)
    } catch (error) {
      if (!LamellaError.is(error, 'run_active')) throw error
      return this.#join(visit, demand, encoder, error)
    }
    const { request, owner } = visit
    const { onDisconnect = 'cancel' } = this.service.options
    const facts = { chat: demand.chat, principal: owner }
    if (onDisconnect === 'continue') {
      return this.#stream(this.#publish(run, facts, encoder).read())
    }
    const source: ChunkSource = {
      next: async () => (await this.#nextChunk(run, encoder, facts))?.chunk,
      cancel: (reason) => void run.cancel(reason),
    }
    request.signal.addEventListener('abort', () => source.cancel(request.signal.reason), {
      once: true,
    })
    return this.#stream(source)
  }

  /** Hands a message to the run that the chat has; the response says what became of it. */
  async #join(
    { request, owner }: Visit,
    demand: Demand,
    encoder: Encoder,
    busy: LamellaError,
  ): Promise<Response> {
    const { headersAfterMs = 10_000, onDisconnect = 'cancel' } = this.service.options
    const left = new AbortController()
    const leave = (): void => {
      if (onDisconnect === 'cancel') left.abort()
    }
    const delivery = this.service.join(owner, demand, left.signal)
    if (delivery === undefined) throw busy
    request.signal.addEventListener('abort', leave, { once: true })
    if (request.signal.aborted) leave()
    const refused = refusalOf(await withinMs(delivery, headersAfterMs))
    if (refused !== undefined) throw refused
    const pieces = shownDelivery(delivery)
    return this.#stream({
      next: async () => {
        const { done, value } = await pieces.next()
        return done === true ? undefined : encoder.encode(value)
      },
      cancel: leave,
    })
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

  /** Lets a run continue without a reader. One that fails at once throws its failure. */
  async continue(run: ChatRun): Promise<void> {
    const failure = failureAtOnce(await run.first(this.service.options.headersAfterMs ?? 10_000))
    const pump = async (): Promise<void> => {
      // oxlint-disable-next-line no-await-in-loop
      while ((await run.next()) !== undefined);
    }
    if (failure === undefined) return void pump()
    await run.cancel(failure)
    throw failure
  }

  /** Streams a run that continues, from its first chunk; 204 if none runs here. */
  async replay({ owner }: Visit, chat: string): Promise<Response> {
    const live = this.#live.get(sessionIdOf(owner, chat))
    if (live === undefined || (await live.isDeleted())) return new Response(null, { status: 204 })
    return this.#stream(live.read())
  }

  #publish(run: ChatRun, facts: ChatFacts, encoder: Encoder): LiveRun {
    const lives = this.#live
    const live = lives.start(sessionIdOf(facts.principal, facts.chat), () => run.isDeleted())
    const pump = async (): Promise<void> => {
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop
        const step = await this.#nextChunk(run, encoder, facts)
        if (step === undefined) break
        const { chunk, isLast } = step
        if (isLast || lives.hasRoom(live, chunk.length)) {
          lives.add(live, chunk)
          continue
        }
        const failure = new HttpFailure('the run is too long to be kept', {
          status: 500,
          code: 'replay_overflow',
        })
        lives.add(live, encoder.encode({ type: 'failed', failure }))
        // oxlint-disable-next-line no-await-in-loop
        await run.cancel(failure)
        break
      }
    }
    void pump()
      .catch((error: unknown) => this.service.report(error, facts))
      .finally(() => lives.end(live))
    return live
  }

  /** The next piece of a run as text. A piece that cannot be written ends the run. */
  async #nextChunk(
    run: ChatRun,
    encoder: Encoder,
    facts: ChatFacts,
  ): Promise<{ readonly chunk: string; readonly isLast: boolean } | undefined> {
    const shown = await run.next()
    if (shown === undefined) return undefined
    try {
      return { chunk: encoder.encode(shown), isLast: shown.type !== 'update' }
    } catch (error) {
      this.service.report(error, facts)
      await run.cancel(error)
      return { chunk: encoder.encode({ type: 'failed', failure: failureOf(error) }), isLast: true }
    }
  }

  #stream(source: ChunkSource): Response {
    return eventResponse(source, this.service.options, this.#protocol.headers)
  }
}

/** Response with a stream of events. */
export function eventResponse(
  source: ChunkSource,
  {
    keepAliveMs = 15_000,
    readerTimeoutMs = 60_000,
  }: Pick<ChatServiceOptions, 'keepAliveMs' | 'readerTimeoutMs'>,
  headers?: Readonly<Record<string, string>>,
): Response {
  const body = eventBody(source, { keepAliveMs, readerTimeoutMs })
  return new Response(body, { headers: { ...eventHeaders, ...headers } })
}

import type { ChatContext, ChatResponse, RunContext, StateCell } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { attemptOf, isControlFlow, unlessAborted } from '@lamella/core/authoring'
import { isCircuitOpenError } from './circuit-open-error.ts'
import type { OwnCall } from './enter-client.ts'
import { enterClient } from './enter-client.ts'
import { isOfClass } from './failure-class.ts'
import type { RouteEvent, RouteObstacle } from './route-event.ts'
import type { ChooseServer } from './route-rule.ts'
import { kindOf } from './route-rule.ts'
import type { RouteServer } from './route-server.ts'

/** Checked options of a route, with their defaults. */
export interface RouteSettings {
  readonly name: string
  readonly isShadow: boolean
  readonly servers: readonly RouteServer[]
  readonly choose: ChooseServer
  readonly by: RouteEvent['because']
  readonly sticky: StateCell<string> | undefined
  readonly asideMs: number
  readonly clock: Clock | undefined
  readonly report: (run: RunContext, event: RouteEvent) => void
}

/** One model call, made by one of several clients. */
export class RouteCall {
  readonly #settings: RouteSettings
  readonly #context: ChatContext
  readonly #own: OwnCall
  readonly #clock: Clock
  readonly #skipped = new Map<string, RouteObstacle>()
  #startedAt = 0
  #firstContentAt: number | undefined

  constructor(settings: RouteSettings, context: ChatContext) {
    this.#settings = settings
    this.#context = context
    const { client, messages, options, run } = context
    this.#own = { client, messages, options }
    this.#clock = settings.clock ?? run.clock
    if (!context.stream || settings.isShadow) return
    context.transformUpdates({
      transform: (update, controller) => {
        if (update.contents.length > 0) this.#firstContentAt ??= this.#clock.now()
        controller.enqueue(update)
      },
    })
  }

  async run(callNext: () => Promise<ChatResponse>): Promise<void> {
    const { isShadow } = this.#settings
    const allowed = await this.#allowed()
    for (;;) {
      const server = await this.#next(allowed)
      if (server === undefined || isShadow) return void (await callNext())
      const refusal = await this.#call(server, callNext, allowed.length > 1)
      if (refusal === undefined) return
      allowed.splice(allowed.indexOf(server), 1)
      this.#skipped.set(server.name, 'refused')
    }
  }

  /** Clients that may take this call. Those that fail are used only if all do. */
  async #allowed(): Promise<RouteServer[]> {
    const { servers } = this.#settings
    const context = this.#context
    const willing: RouteServer[] = []
    for (const server of servers) {
      const answer = (async () => server.entry.when?.(context) ?? true)()
      if (await unlessAborted(context.signal, answer)) willing.push(server)
      else this.#skipped.set(server.name, 'when')
    }
    const now = this.#clock.now()
    const well = willing.filter((server) => !server.isAside(now))
    if (well.length === 0) return willing
    for (const server of willing)
      if (server.isAside(now)) this.#skipped.set(server.name, 'set_aside')
    return well
  }

  async #next(allowed: readonly RouteServer[]): Promise<RouteServer | undefined> {
    const { by, choose, sticky } = this.#settings
    const { run, signal } = this.#context
    if (allowed.length === 0) return this.#chosen(undefined, 'none')
    const last = sticky && run.state.get(sticky)
    const known = allowed.find(({ name }) => name === last)
    if (known !== undefined) return this.#chosen(known, 'sticky')
    if (allowed.length === 1) return this.#chosen(allowed[0], 'only')
    const choice = choose(this.#context, allowed, this.#clock.now())
    // Whatever calls at the same time must see this one: nothing may run between a choice and its count.
    return this.#chosen('then' in choice ? await unlessAborted(signal, choice) : choice, by)
  }

  #chosen(
    server: RouteServer | undefined,
    because: RouteEvent['because'],
  ): RouteServer | undefined {
    const { name: middleware, isShadow, report, sticky } = this.#settings
    const { run } = this.#context
    if (server !== undefined && !isShadow) server.running++
    if (sticky !== undefined && server !== undefined && !isShadow && because !== 'sticky')
      run.state.update(sticky, () => server.name)
    report(run, {
      middleware,
      client: server?.name,
      because,
      skipped: Object.fromEntries(this.#skipped),
      ...(isShadow && { shadow: true }),
    })
    return server
  }

  /** Makes the call. Returns the error of a client that made no request, if there is another one. */
  async #call(
    server: RouteServer,
    callNext: () => Promise<ChatResponse>,
    hasOthers: boolean,
  ): Promise<unknown> {
    const { asideMs } = this.#settings
    const context = this.#context
    const { run } = context
    const known = run.attempts.length
    this.#startedAt = this.#clock.now()
    this.#firstContentAt = undefined
    try {
      enterClient(context, this.#own, server.entry)
      const response = await callNext()
      const its = attemptOf(context, { status: 'ok' })
      // An inner fallback may have had to help.
      if (
        run.attempts
          .slice(known)
          .findLast(
            ({ provider, client, model }) =>
              provider === its.provider && client === its.client && model === its.model,
          )?.status === 'failed'
      )
        server.failed(this.#clock.now(), asideMs)
      else this.#succeeded(server)
      if (run.attempts.length === known && server.entry.client !== this.#own.client)
        run.recordAttempt(attemptOf(context, { status: 'ok', usage: response.usage }))
      this.#serve(response)
      return undefined
    } catch (error) {
      const ms = context.result === undefined ? refusedMs(error) : undefined
      if (ms === undefined && isControlFlow(error, context.signal)) throw error
      const now = this.#clock.now()
      if (ms !== undefined) server.refused(now, ms)
      else if (isOfClass(error, counted)) server.failed(now, asideMs)
      if (ms === undefined || !hasOthers || context.released) throw error
      run.recordAttempt(attemptOf(context, { error }))
      return error
    } finally {
      server.running--
    }
  }

  #succeeded(server: RouteServer): void {
    const now = this.#clock.now()
    server.succeeded()
    server.measured(kindOf(this.#context), (this.#firstContentAt ?? now) - this.#startedAt, now)
  }

  #serve(response: ChatResponse): void {
    if ('servedBy' in response.metadata || this.#context.client === this.#own.client) return
    const { provider = '', client, model } = attemptOf(this.#context, { status: 'ok' })
    const servedBy = { provider, ...(client && { client }), ...(model && { model }) }
    this.#context.result = { ...response, metadata: { ...response.metadata, servedBy } }
  }
}

/** Failures that say that a server does not work now. */
const counted = ['transient', 'quota', 'auth', 'not_found'] as const
/** Milliseconds for which one that refuses without saying how long takes no call. */
const usualRefusalMs = 1_000

/** Milliseconds until a client that made no request takes calls again; `undefined` for other errors. */
function refusedMs(error: unknown): number | undefined {
  // A budget has too little left for this model; another run, or a shorter call, may have enough.
  if (LamellaError.is(error, 'budget_exhausted')) return 0
  const isOpen = isCircuitOpenError(error)
  if (!isOpen && !LamellaError.is(error, 'rate_limited')) return undefined
  const ms: unknown = isOpen ? error.retry.afterMs : 'retryAfterMs' in error && error.retryAfterMs
  return typeof ms === 'number' && ms >= 0 && ms < Infinity ? ms : usualRefusalMs
}

import type { IdSource } from '../base/create-id.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { Clock } from '../base/timers.ts'
import type { RunEvent, RunEventInit, RunRequestInit } from '../contract/events.ts'
import { RunRequests } from './requests.ts'

type Observer = (event: RunEvent) => void

/** The run that events are of. */
interface Sender {
  readonly id: string
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly ids: IdSource
  readonly sink: {
    readonly streaming: boolean
    push(update: { readonly contents: []; readonly event: RunEvent }): void
  }
}

/** The caller, which may be the parent run. */
interface Listener {
  readonly onEvent?: Observer | undefined
  readonly onRequest?: ((event: RunEvent & { readonly id: string }) => unknown) | undefined
}

/** Events and requests of one run. */
export class RunEvents {
  readonly #run: Sender
  readonly #caller: Listener
  readonly #observers = new Set<Observer>()
  readonly #requests = new RunRequests()

  constructor(run: Sender, caller: Listener) {
    this.#run = run
    this.#caller = caller
  }

  emit({ type, data, public: isPublic }: RunEventInit): void {
    this.#send({ type, data, runId: this.#run.id, ...(isPublic === true && { public: true }) })
  }

  /** Adds an observer, even if it is already registered, and returns a function that removes it. */
  observe(listener: Observer): () => void {
    const own: Observer = (event) => listener(event)
    this.#observers.add(own)
    return () => this.#observers.delete(own)
  }

  request<Value>(request: RunRequestInit<Value>): Promise<Value> {
    const { onRequest } = this.#caller
    const { id: runId, signal, clock, ids, sink } = this.#run
    if (!sink.streaming && onRequest === undefined) {
      const problem = `no handler for the request "${request.type}": stream the run, or pass \`onRequest\``
      return Promise.reject(new LamellaError(problem, { code: 'run_failed' }))
    }
    const send = (event: RunEvent): void => this.#send(event)
    return this.#requests.ask(request, { runId, signal, clock, ids, send, onRequest })
  }

  respond(id: string, value: unknown): boolean {
    return this.#requests.respond(id, value)
  }

  /** Errors of observers and the caller are discarded. */
  #send(event: RunEvent): void {
    this.#run.sink.push({ contents: [], event })
    for (const observer of [...this.#observers, this.#caller.onEvent]) {
      try {
        observer?.(event)
      } catch {}
    }
  }
}

import { checkTimeLimit } from '../base/check-options.ts'
import type { IdSource } from '../base/create-id.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { checkSchema } from '../base/standard-schema.ts'
import type { Clock } from '../base/timers.ts'
import { callLater } from '../base/timers.ts'
import { formatIssues, validate } from '../base/validate.ts'
import { unlessAborted } from '../base/waits.ts'
import type { RunEvent, RunEventInit, RunRequestInit } from '../contract/events.ts'

type Observer = (event: RunEvent) => void
type Question = RunEvent & { readonly id: string }

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
  /** Answers by itself; `undefined` leaves it to `respond`. */
  readonly onRequest?: ((event: Question) => unknown) | undefined
}

/** Events of one run, and its requests that wait for the caller's answer. */
export class RunEvents {
  readonly #run: Sender
  readonly #caller: Listener
  readonly #observers = new Set<Observer>()
  readonly #waiting = new Map<string, (value: unknown) => void>()

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

  /** The waiter is there before the question goes out, so that no answer is lost. */
  async request<Value>({
    type,
    data,
    public: isPublic,
    schema,
    timeoutMs = 300_000,
  }: RunRequestInit<Value>): Promise<Value> {
    const { onRequest } = this.#caller
    const { id: runId, signal, clock, ids, sink } = this.#run
    if (!sink.streaming && onRequest === undefined) {
      const problem = `no handler for the request "${type}": stream the run, or pass \`onRequest\``
      throw new LamellaError(problem, { code: 'run_failed' })
    }
    checkTimeLimit('run.request', 'timeoutMs', timeoutMs)
    if (schema !== undefined) checkSchema('run.request: `schema`', schema)
    signal.throwIfAborted()
    const id = ids.createSecretId('request')
    const late = `no answer to the request "${type}" within ${timeoutMs} ms`
    let stopTimer: (() => void) | undefined
    try {
      const answered = new Promise<unknown>((resolve, reject) => {
        this.#waiting.set(id, resolve)
        const onLate = (): void => reject(new LamellaError(late, { code: 'timeout' }))
        stopTimer = callLater(clock, timeoutMs, onLate)
        const event = { type, data, runId, id, ...(isPublic === true && { public: true as const }) }
        this.#send(event)
        if (onRequest !== undefined) this.#relay(event, onRequest)
      })
      const answer = await unlessAborted(signal, answered)
      const checked = schema
        ? await unlessAborted(signal, Promise.resolve(validate(schema, answer)))
        : { value: answer as Value }
      if (checked.issues === undefined) return checked.value
      throw new LamellaError(
        `the answer to the request "${type}" does not fit its schema: ${formatIssues(checked.issues)}`,
        { code: 'schema_invalid' },
      )
    } finally {
      this.#waiting.delete(id)
      stopTimer?.()
    }
  }

  /** Returns false if no request waits for this id, for example because it was answered before. */
  respond(id: string, value: unknown): boolean {
    this.#waiting.get(id)?.(value)
    return this.#waiting.delete(id)
  }

  #relay(event: Question, onRequest: (event: Question) => unknown): void {
    const answer = (async () => onRequest(event))()
    answer.then(
      (value) => value !== undefined && this.respond(event.id, value),
      // A caller that cannot answer fails the question.
      () => this.respond(event.id, answer),
    )
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

import { checkOptions, checkTimeLimit } from '../base/check-options.ts'
import type { IdSource } from '../base/create-id.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { unlessAborted } from '../base/waits.ts'
import type { Schema } from '../base/standard-schema.ts'
import type { Clock } from '../base/timers.ts'
import { callLater } from '../base/timers.ts'
import { checkSchema } from '../base/standard-schema.ts'
import { formatIssues, validate, validateNow } from '../base/validate.ts'
import type { RunEvent, RunEventInit, RunRequestInit } from '../contract/events.ts'

type Question = RunEvent & { readonly id: string }

/** The run that a question is of. */
interface Asker {
  readonly runId: string
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly ids: IdSource
  readonly send: (event: Question) => void
  /** Answers by itself; `undefined` leaves it to `respond`. */
  readonly onRequest: ((event: Question) => unknown) | undefined
}

/** Requests of one run that wait for the caller's answer. */
export class RunRequests {
  readonly #waiting = new Map<string, (value: unknown) => void>()

  /** Returns false if no request waits for this id, for example because it was answered before. */
  respond(id: string, value: unknown): boolean {
    this.#waiting.get(id)?.(value)
    return this.#waiting.delete(id)
  }

  /** The waiter is there before the question goes out, so that no answer is lost. */
  async ask<Value>(
    { type, data, public: isPublic, schema, timeoutMs = 300_000 }: RunRequestInit<Value>,
    { runId, signal, clock, ids, send, onRequest }: Asker,
  ): Promise<Value> {
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
        send(event)
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
  #relay(event: Question, onRequest: NonNullable<Asker['onRequest']>): void {
    const answer = (async () => onRequest(event))()
    answer.then(
      (value) => value !== undefined && this.respond(event.id, value),
      // A caller that cannot answer fails the question.
      () => this.respond(event.id, answer),
    )
  }
}

/** Options of `defineEvent`. */
export interface EventOptions<Data, Answer> {
  /** Unique in an application, such as `shop/order-placed`. */
  readonly type: string
  /** Schema that validates `data`. @default anything */
  readonly data?: Schema<Data> | undefined
  /** Schema that validates an answer, for events that request one. @default anything */
  readonly answer?: Schema<Answer> | undefined
  /** Time limit for the answer in milliseconds. @default 300000 */
  readonly timeoutMs?: number | undefined
}

/** Makes events of one type: `run.emit(event(data))`, `await run.request(event(data))`. */
export interface EventDefinition<Data, Answer> {
  (data: Data): RunEventInit & RunRequestInit<Answer>
  /** Type of the events. */
  readonly type: string
  /** Returns true if an event is of this type and its data fits the schema. */
  is(event: RunEvent | undefined): event is RunEvent & {
    /** Data of the event. */
    readonly data: Data
  }
}

/**
 * Defines a type of events that middleware and tools send to the caller.
 * @throws TypeError that names the option; the returned function throws a TypeError for data that
 * does not fit, without the data
 */
export function defineEvent<Data, Answer = unknown>(
  options: EventOptions<Data, Answer>,
): EventDefinition<Data, Answer> {
  checkOptions('defineEvent', options, {
    timeoutMs: 'ms',
    type: 'string',
    data: 'any',
    answer: 'any',
  })
  const { type, data: schema, answer, timeoutMs } = options
  if (schema !== undefined) checkSchema('defineEvent: `data`', schema)
  const fits = (data: unknown): boolean => {
    if (schema === undefined) return true
    const result = validateNow(schema, data)
    if (result === undefined) {
      throw new TypeError(`defineEvent: \`data\` of "${type}" must be a schema that is not async`)
    }
    return result.issues === undefined
  }
  const make = (data: Data): RunEventInit & RunRequestInit<Answer> => {
    if (!fits(data)) throw new TypeError(`event "${type}" got data that does not fit its schema`)
    return { type, data, schema: answer, timeoutMs }
  }
  return Object.assign(make, {
    type,
    is: (event: RunEvent | undefined): event is RunEvent & { readonly data: Data } =>
      event?.type === type && fits(event.data),
  })
}

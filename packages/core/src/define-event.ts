import { checkOptions } from './check-options.ts'
import type { RunEvent, RunEventInit, RunRequestInit } from './run-events.ts'
import type { Schema } from './standard-schema.ts'
import { validateNow } from './validate-now.ts'

/** Options of `defineEvent`. */
export interface EventOptions<Data, Answer> {
  /** Unique in an application, such as `shop/order-placed`. */
  readonly type: string
  /** What `data` must fit. @default anything */
  readonly data?: Schema<Data> | undefined
  /** What an answer must fit, for events that ask for one. */
  readonly answer?: Schema<Answer> | undefined
  /** How long `run.request` waits for the answer. @default 300000 */
  readonly timeoutMs?: number | undefined
}

/** Makes events of one type: `run.emit(event(data))`, `await run.request(event(data))`. */
export interface EventDefinition<Data, Answer> {
  (data: Data): RunEventInit & RunRequestInit<Answer>
  readonly type: string
  /** Whether an event is of this type, and its data fits. */
  is(event: RunEvent | undefined): event is RunEvent & { readonly data: Data }
}

/**
 * Defines a type of events that layers and tools send to the caller.
 * @throws TypeError that names the option; what it returns throws a TypeError for data that does not
 * fit, without the data
 */
export function defineEvent<Data, Answer = unknown>(
  options: EventOptions<Data, Answer>,
): EventDefinition<Data, Answer> {
  checkOptions('defineEvent', options, {
    type: 'string',
    data: 'any',
    answer: 'any',
    timeoutMs: 'any',
  })
  const { type, data: schema, answer, timeoutMs } = options
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

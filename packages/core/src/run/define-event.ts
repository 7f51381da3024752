import { checkOptions } from '../base/check-options.ts'
import type { Schema } from '../base/standard-schema.ts'
import { checkSchema } from '../base/standard-schema.ts'
import { validateNow } from '../base/validate.ts'
import type { RunEvent, RunEventInit, RunRequestInit } from '../contract/events.ts'

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

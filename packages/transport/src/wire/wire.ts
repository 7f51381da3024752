import { isObject } from '@lamella/core/authoring'

/** An object of unknown fields, as JSON of a provider is one. */
export type WireObject = Readonly<Record<string, unknown>>

const nothing: WireObject = Object.freeze({})

/**
 * Returns untrusted JSON as an object; any other value becomes an object without fields.
 * @example
 * ```ts
 * import { recordOf } from '@lamella/transport'
 *
 * console.log(recordOf(JSON.parse('{"id":1}'))['id'], recordOf('text')['id']) // 1 undefined
 * ```
 */
export function recordOf(value: unknown): WireObject {
  return typeof value === 'object' && value !== null ? (value as WireObject) : nothing
}

/** Returns untrusted JSON as a list; any other value becomes an empty list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/**
 * Returns a text; undefined if it is empty or something else.
 * @example
 * ```ts
 * import { stringOf } from '@lamella/transport'
 *
 * console.log(stringOf('id-1'), stringOf(1), stringOf('')) // id-1 undefined undefined
 * ```
 */
export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The fields that are not undefined. */
export function defined<T extends object>(fields: T): Defined<T> {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known) as Defined<T>
}

/** The fields, if there are any. */
export function unlessEmpty<T extends object>(fields: T): T | undefined {
  return Object.keys(fields).length > 0 ? fields : undefined
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Parses a text as a JSON object; undefined if it is not one. */
export function parseObject(text: string): WireObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A text without its percent encoding; as it is if that is malformed. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

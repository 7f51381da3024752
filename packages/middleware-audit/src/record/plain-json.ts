import { types } from 'node:util'
import { canonicalJson } from '@lamella/core/authoring'

/**
 * Copies a value as `JSON.parse(JSON.stringify(value))` would, with bytes in base64 and keys in canonical order. A
 * value that JSON cannot hold becomes the name of its type.
 */
export function plainJson(value: unknown): unknown {
  try {
    return plain(value, '') ?? null
  } catch {
    // Also a cycle.
    return `[${typeof value}]`
  }
}

/** Returns the canonical JSON (RFC 8785) of a copy that `plainJson` made. */
export function plainText(copy: unknown): string {
  const text = JSON.stringify(copy)
  // JavaScript has keys that are numbers before all others, in the order of the numbers.
  return numberKey.test(text) ? canonicalJson(copy) : text
}

/** Copies an object with its keys in canonical order: that of their UTF-16 code units. */
export function inOrder<Entries extends object>(entries: Entries): Entries {
  const copy: Record<string, unknown> = {}
  for (const name of orderedKeys(entries))
    put(copy, name, (entries as Record<string, unknown>)[name])
  return copy as Entries
}

/** Returns `undefined` for a value that JSON leaves out. */
function plain(given: unknown, key: string): unknown {
  if (given instanceof Uint8Array) return Buffer.from(given).toString('base64')
  const value = isObject(given) || typeof given === 'bigint' ? converted(given, key) : given
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object') return undefined
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (let at = 0; at < value.length; at++) list.push(plain(value[at], String(at)) ?? null)
    return list
  }
  const copy: Record<string, unknown> = {}
  for (const name of orderedKeys(value)) {
    const item = plain((value as Record<string, unknown>)[name], name)
    if (item !== undefined) put(copy, name, item)
  }
  return copy
}

function put(copy: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(copy, name, { ...own, value })
  else copy[name] = value
}

function orderedKeys(value: object): readonly string[] {
  const keys = Object.keys(value)
  if (keys.length > fewKeys) return keys.toSorted()
  // `sort` takes several times as long for the few keys of most objects.
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next]!
    let at = next
    for (; at > 0 && key < keys[at - 1]!; at--) keys[at] = keys[at - 1]!
    keys[at] = key
  }
  return keys
}

const fewKeys = 32

function converted(value: unknown, key: string): unknown {
  const { toJSON } = value as { toJSON?: unknown }
  const made: unknown = typeof toJSON === 'function' ? toJSON.call(value, key) : value
  const isPlain = isObject(made) && Object.getPrototypeOf(made) === Object.prototype
  return !isPlain && types.isBoxedPrimitive(made) ? made.valueOf() : made
}

function isObject(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

// In JSON, a quotation mark before digits begins a text.
const numberKey = /"\d+":/
const own = { configurable: true, enumerable: true, writable: true }

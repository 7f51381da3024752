import { types } from 'node:util'

/**
 * Copies a value as `JSON.parse(JSON.stringify(value))` would, with bytes in base64. A value that JSON cannot hold
 * becomes the name of its type.
 */
export function plainJson(value: unknown): unknown {
  try {
    return plain(value, '') ?? null
  } catch {
    // Also a cycle.
    return `[${typeof value}]`
  }
}

/** Returns `undefined` for a value that JSON leaves out. */
function plain(given: unknown, key: string): unknown {
  if (given instanceof Uint8Array) return Buffer.from(given).toString('base64')
  const value = isObject(given) || typeof given === 'bigint' ? converted(given, key) : given
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object') return undefined
  if (Array.isArray(value)) return Array.from(value, (item, at) => plain(item, String(at)) ?? null)
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const item = plain((value as Record<string, unknown>)[name], name)
    if (item === undefined) continue
    if (name === '__proto__') Object.defineProperty(copy, name, { ...own, value: item })
    else copy[name] = item
  }
  return copy
}

function converted(value: unknown, key: string): unknown {
  const { toJSON } = value as { toJSON?: unknown }
  const made: unknown = typeof toJSON === 'function' ? toJSON.call(value, key) : value
  return types.isBoxedPrimitive(made) ? made.valueOf() : made
}

function isObject(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

const own = { configurable: true, enumerable: true, writable: true }

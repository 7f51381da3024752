import type { JsonSchema } from '@lamella/core'
import { isObject } from '@lamella/core/authoring'
import { parseJson } from './parse-json.ts'

/**
 * Converts scalars to the types of the schema without changing their meaning: `"12"` to 12, `"true"` to
 * true, 12 to `"12"`, a single value to a list of one, a list or an object in a string to that list or
 * object. Removes optional properties that are null against the schema. Returns a copy, or the value
 * itself if nothing changed.
 */
export function coerceToSchema(schema: JsonSchema, value: unknown): unknown {
  return coerce(schema, value, 0)
}

/** Nesting depth in levels up to which values are converted. */
const maxDepth = 50

function coerce(schema: unknown, value: unknown, depth: number): unknown {
  if (!isObject(schema) || depth > maxDepth) return value
  const types = typesOf(schema)
  if (Array.isArray(value)) {
    if (!isObject(schema['items'])) return value
    return same(
      value,
      value.map((item) => coerce(schema['items'], item, depth + 1)),
    )
  }
  if (isObject(value)) {
    if (types.length > 0 && !types.includes('object')) return toList(schema, types, value, depth)
    return coerceProperties(schema, value, depth)
  }
  if (types.length === 0 || types.includes(typeOf(value))) return value
  const encoded = typeof value === 'string' ? decode(types, value) : undefined
  if (encoded !== undefined) return coerce(schema, encoded, depth + 1)
  const scalar = toScalar(types, value)
  return scalar === value ? toList(schema, types, value, depth) : scalar
}

function coerceProperties(
  schema: Record<string, unknown>,
  value: Record<string, unknown>,
  depth: number,
): unknown {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required: unknown = schema['required']
  let changed = false
  const entries: [string, unknown][] = []
  for (const [key, entry] of Object.entries(value)) {
    const part = Object.hasOwn(properties, key) ? properties[key] : undefined
    const types = isObject(part) ? typesOf(part) : []
    const isOptional = !Array.isArray(required) || !required.includes(key)
    if (entry === null && isOptional && types.length > 0 && !types.includes('null')) {
      changed = true
      continue
    }
    const coerced = coerce(part, entry, depth + 1)
    changed ||= coerced !== entry
    entries.push([key, coerced])
  }
  return changed ? Object.fromEntries(entries) : value
}

/** Parses a list or an object from JSON in a string. */
function decode(types: readonly string[], value: string): object | undefined {
  const isWanted = types.includes('object') || types.includes('array')
  const decoded = isWanted && /^\s*[[{]/.test(value) ? parseJson(value)?.value : undefined
  const isList = Array.isArray(decoded)
  return types.includes(isList ? 'array' : 'object') ? (decoded as object | undefined) : undefined
}

function toScalar(types: readonly string[], value: unknown): unknown {
  if (typeof value === 'string') {
    const trimmed = value.trim()
    const isNumber = /^-?\d{1,15}(?:\.\d{1,15})?$/.test(trimmed)
    if (types.includes('number') && isNumber) return Number(trimmed)
    if (types.includes('integer') && /^-?\d{1,15}$/.test(trimmed)) return Number(trimmed)
    const word = trimmed.toLowerCase()
    if (types.includes('boolean') && (word === 'true' || word === 'false')) return word === 'true'
    if (types.includes('null') && (word === '' || word === 'null')) return null
  }
  const isPlain = typeof value === 'number' || typeof value === 'boolean'
  return isPlain && types.includes('string') ? String(value) : value
}

function toList(
  schema: Record<string, unknown>,
  types: readonly string[],
  value: unknown,
  depth: number,
): unknown {
  return types.includes('array') && value !== null
    ? [coerce(schema['items'], value, depth + 1)]
    : value
}

function same(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.every((item, index) => item === before[index]) ? before : after
}

/** Returns the types that a schema allows at the top level, alternatives included. */
function typesOf({ type, anyOf, oneOf }: Record<string, unknown>): readonly string[] {
  if (typeof type === 'string') return type === 'number' ? ['number', 'integer'] : [type]
  if (Array.isArray(type)) return type.map(String)
  const parts = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : []
  return parts.flatMap((part) => (isObject(part) ? typesOf(part) : []))
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Number.isInteger(value) ? 'integer' : typeof value
}

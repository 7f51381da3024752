import type { JsonSchema, Schema } from '@lamella/core'
import { jsonSchema } from '@lamella/core'
import { isObject } from '@lamella/core/authoring'
import { cleanText } from '../base/clean-text.ts'

/** Levels of nesting in a schema. Real ones have fewer than ten. */
const maxDepth = 32
const maxTextChars = 1000

/** A server's schema in two forms: for the model, and for checking arguments. */
export interface BoundedSchema {
  readonly shown: JsonSchema
  readonly checked: Schema<Record<string, unknown>>
}

/**
 * Makes a server's schema harmless. References to other documents are removed, because nothing is
 * fetched; texts are cleaned and cut. The schema for checking has no regular expressions: a hostile
 * one takes exponential time, and the server checks the arguments itself.
 * @throws RangeError for a
 * schema that is nested too deep, or does not describe an object
 */
export function boundedSchema(schema: unknown): BoundedSchema {
  if (!isObject(schema)) throw new RangeError('it has no input schema')
  const { type = 'object' } = schema
  if (type !== 'object') throw new RangeError('its input is not an object')
  return {
    shown: { ...copy(schema, false, 0), type },
    checked: jsonSchema({ ...copy(schema, true, 0), type }),
  }
}

/**
 * The same for a schema of results, which need not be objects.
 * @throws RangeError for a schema that nests too deep
 */
export function boundedOutputSchema(schema: unknown): JsonSchema | undefined {
  return isObject(schema) ? copy(schema, true, 0) : undefined
}

/** Keywords whose value maps names to schemas. */
const maps = new Set([
  'properties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
])

/** Keywords whose value is data. */
const data = new Set([
  'enum',
  'const',
  'default',
  'examples',
  'required',
  'dependentRequired',
  'type',
])

/** Keywords that do not constrain a value. Providers reject some of them. */
const dropped = new Set(['$schema', '$id', '$anchor', '$comment', '$vocabulary', 'x-mcp-header'])

const references = new Set(['$ref', '$dynamicRef'])
const patterns = new Set(['pattern', 'patternProperties'])

type Keywords = Readonly<Record<string, unknown>>

function copy(schema: Keywords, forCheck: boolean, depth: number): Keywords {
  if (depth > maxDepth) throw new RangeError(`its schema has more than ${maxDepth} levels`)
  const hasPatterns = forCheck && schema['patternProperties'] !== undefined
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (dropped.has(key)) return []
    if (references.has(key) && !String(value).startsWith('#')) return []
    if (forCheck && patterns.has(key)) return []
    // Keys that a pattern describes would be taken for additional ones.
    if (hasPatterns && /^(additional|unevaluated)Properties$/.test(key)) return []
    if (data.has(key)) return [[key, bounded(value, depth + 1)]]
    if (maps.has(key) && isObject(value)) return [[key, copyMap(value, forCheck, depth + 1)]]
    return [[key, copyValue(value, forCheck, depth + 1)]]
  })
  return Object.fromEntries(entries)
}

function copyMap(map: Keywords, forCheck: boolean, depth: number): Keywords {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, copyValue(value, forCheck, depth)]),
  )
}

function copyValue(value: unknown, forCheck: boolean, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value, maxTextChars)
  if (Array.isArray(value))
    return value.map((part: unknown) => copyValue(part, forCheck, depth + 1))
  return isObject(value) ? copy(value, forCheck, depth) : value
}

/** Data as it is, unless it nests too deep. */
function bounded(value: unknown, depth: number): unknown {
  if (depth > maxDepth) throw new RangeError(`its schema has more than ${maxDepth} levels`)
  if (typeof value !== 'object' || value === null) return value
  for (const part of Object.values(value)) bounded(part, depth + 1)
  return value
}

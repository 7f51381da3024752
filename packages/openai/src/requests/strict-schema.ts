import type { JsonSchema } from '@lamella/core'
import { recordOf } from '@lamella/transport'

// https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, 2026-11.
const keywords = new Set([
  'type',
  'enum',
  'const',
  'title',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'anyOf',
  '$ref',
  '$defs',
  'definitions',
])

// They say nothing about what fits, and OpenAI refuses some of them.
const annotations = new Set([
  '$schema',
  '$id',
  '$comment',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
])

const formats = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
])

const deepest = 10
const mostProperties = 5000

/**
 * The schema in the form in which OpenAI guarantees that the answer fits, or `undefined` if it has
 * none that means the same: optional properties, open objects, `oneOf` and the like.
 */
export function strictSchema(schema: JsonSchema): JsonSchema | undefined {
  if (schema['anyOf'] !== undefined || typeof schema['$ref'] === 'string') return undefined
  if (schema['type'] !== 'object') return undefined
  const count = { properties: 0 }
  const strict = strictPart(schema, 0, count)
  return count.properties <= mostProperties ? strict : undefined
}

function strictPart(
  part: unknown,
  depth: number,
  count: { properties: number },
): JsonSchema | undefined {
  if (typeof part !== 'object' || part === null || Array.isArray(part) || depth > deepest)
    return undefined
  // OpenAI refuses words beside a reference, such as its description.
  const { $ref: reference } = recordOf(part)
  if (typeof reference === 'string') return isNoted(part) ? { $ref: reference } : undefined
  const strict: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(part)) {
    if (annotations.has(keyword)) continue
    if (keyword === 'format' && !formats.has(String(value))) continue
    if (!keywords.has(keyword)) return undefined
    const kept = strictValue(keyword, value, depth, count)
    if (kept === undefined) return undefined
    strict[keyword] = kept
  }
  if (isObjectSchema(strict)) {
    const names = Object.keys(recordOf(strict['properties']))
    const required = strict['required']
    const all = Array.isArray(required) ? new Set(required) : new Set()
    if (names.some((name) => !all.has(name)) || strict['additionalProperties'] === true)
      return undefined
    count.properties += names.length
    strict['properties'] ??= {}
    strict['required'] = names
    strict['additionalProperties'] = false
  }
  if (strict['type'] === 'array' && strict['items'] === undefined) return undefined
  // A part that allows anything cannot be guaranteed.
  const saysSomething = ['type', 'enum', 'const', 'anyOf', '$ref'].some((word) => word in strict)
  return saysSomething ? strict : undefined
}

function isNoted(part: object): boolean {
  return Object.keys(part).every(
    (word) => ['$ref', 'title', 'description'].includes(word) || annotations.has(word),
  )
}

function strictValue(
  keyword: string,
  value: unknown,
  depth: number,
  count: { properties: number },
): unknown {
  switch (keyword) {
    case 'properties':
    case '$defs':
    case 'definitions': {
      const parts: [string, unknown][] = []
      for (const [name, part] of Object.entries(recordOf(value))) {
        const strict = strictPart(part, keyword === 'properties' ? depth + 1 : depth, count)
        if (strict === undefined) return undefined
        parts.push([name, strict])
      }
      return Object.fromEntries(parts)
    }
    case 'items':
      return strictPart(value, depth + 1, count)
    case 'anyOf': {
      if (!Array.isArray(value)) return undefined
      const parts = value.map((part: unknown) => strictPart(part, depth, count))
      return parts.includes(undefined) ? undefined : parts
    }
    case 'additionalProperties':
      return typeof value === 'boolean' ? value : undefined
    default:
      return value
  }
}

function isObjectSchema({ type, properties }: Readonly<Record<string, unknown>>): boolean {
  return (
    type === 'object' ||
    (Array.isArray(type) && type.includes('object')) ||
    properties !== undefined
  )
}

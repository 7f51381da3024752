import { asList, asRecord, asString } from './json-access.ts'

type JsonSchema = Readonly<Record<string, unknown>>

/** A value that fits a JSON Schema, with `text` where a string is free. */
export function jsonAnswer(schema: JsonSchema, text: string): unknown {
  return valueFor(schema, text, schema, 0)
}

function valueFor(schema: JsonSchema, text: string, root: JsonSchema, depth: number): unknown {
  if (depth > 20) return null
  const inner = (next: unknown): unknown => valueFor(asRecord(next), text, root, depth + 1)
  if ('const' in schema) return schema['const']
  if ('enum' in schema) return asList(schema['enum'])[0]
  if ('default' in schema) return schema['default']
  if (typeof schema['$ref'] === 'string') return inner(resolve(schema['$ref'], root))
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    if (keyword in schema) return inner(asList(schema[keyword])[0])
  }

  const { type: given } = schema as { type?: unknown }
  switch (
    Array.isArray(given) ? given[0] : (given ?? ('properties' in schema ? 'object' : 'string'))
  ) {
    case 'object':
      return Object.fromEntries(
        Object.entries(asRecord(schema['properties'])).map(([name, next]) => [name, inner(next)]),
      )
    case 'array':
      return Array.from({ length: Math.max(1, numberOf(schema['minItems'], 0)) }, () =>
        inner(schema['items']),
      )
    case 'number':
    case 'integer':
      return numberFor(schema, text)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return stringFor(schema, text)
  }
}

function numberFor(schema: JsonSchema, text: string): number {
  const whole = schema['type'] === 'integer'
  const minimum = numberOf(schema['minimum'], numberOf(schema['exclusiveMinimum'], -Infinity) + 1)
  const maximum = numberOf(schema['maximum'], numberOf(schema['exclusiveMaximum'], Infinity) - 1)
  const found = Number(/(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])/u.exec(text)?.[0] ?? 0)
  return Math.min(maximum, Math.max(minimum, whole ? Math.trunc(found) : found))
}

function stringFor(schema: JsonSchema, text: string): string {
  const samples: Readonly<Record<string, string>> = {
    'date-time': '2026-01-01T00:00:00Z',
    date: '2026-01-01',
    time: '00:00:00Z',
    email: 'someone@example.com',
    uri: 'https://example.com/',
    url: 'https://example.com/',
    uuid: '00000000-0000-4000-8000-000000000000',
  }
  const free = samples[asString(schema['format'])] ?? text
  const padded = free.padEnd(numberOf(schema['minLength'], 0), '.')
  return padded.slice(0, numberOf(schema['maxLength'], Infinity))
}

function resolve(reference: string, root: JsonSchema): unknown {
  let found: unknown = root
  for (const key of reference.replace(/^#\/?/u, '').split('/')) {
    if (key !== '') found = asRecord(found)[key.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return found
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

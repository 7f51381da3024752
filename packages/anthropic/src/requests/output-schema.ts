import type { JsonSchema } from '@lamella/core'
import { listOf, recordOf } from '@lamella/transport'

// https://platform.claude.com/docs/en/build-with-claude/structured-outputs, 2026-11.
const kept = new Set([
  'type',
  'enum',
  'const',
  '$ref',
  'title',
  'description',
  'required',
  'default',
])

const formats = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
])

// They say nothing about what fits.
const dropped = new Set(['$schema', '$id', '$comment', 'examples', 'deprecated'])

/**
 * The schema as Anthropic accepts it for answers and strict tools. What it refuses, such as
 * `minimum` or `pattern`, becomes part of the description, and is checked here when the answer comes.
 */
export function outputSchema(schema: JsonSchema): JsonSchema {
  const shown: Record<string, unknown> = {}
  const notes: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    switch (keyword) {
      case 'properties':
      case '$defs':
      case 'definitions':
        shown[keyword] = Object.fromEntries(
          Object.entries(recordOf(value)).map(([name, part]) => [name, partSchema(part)]),
        )
        break
      case 'items':
        shown[keyword] = partSchema(value)
        break
      case 'anyOf':
      case 'allOf':
        shown[keyword] = listOf(value).map(partSchema)
        break
      case 'oneOf':
        shown['anyOf'] = listOf(value).map(partSchema)
        break
      case 'additionalProperties':
        // A map of anything has no form that Anthropic takes: it is sent as it is, and refused aloud.
        if (typeof value === 'object') shown[keyword] = value
        break
      default: {
        const isFine =
          kept.has(keyword) ||
          (keyword === 'format' && formats.has(String(value))) ||
          (keyword === 'minItems' && (value === 0 || value === 1))
        if (isFine) shown[keyword] = value
        else if (!dropped.has(keyword)) notes.push(`${keyword}: ${JSON.stringify(value)}`)
      }
    }
  }
  if (schema['type'] === 'object' || schema['properties'] !== undefined) {
    shown['properties'] ??= {}
    shown['additionalProperties'] ??= false
  }
  if (notes.length > 0) {
    const { description } = shown
    const note = `{${notes.join(', ')}}`
    shown['description'] = typeof description === 'string' ? `${description}\n\n${note}` : note
  }
  return shown
}

function partSchema(part: unknown): unknown {
  return typeof part === 'object' && part !== null ? outputSchema(part as JsonSchema) : part
}

import type { JsonSchema } from '@lamella/core'
import { isObject } from '@lamella/core/authoring'

/** Removes arguments that a schema does not describe, at every depth. */
export function describedArguments(
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
): { readonly arguments: Readonly<Record<string, unknown>>; readonly unknown: readonly string[] } {
  const unknown: string[] = []
  const described = pick(args, schema, '', unknown)
  return { arguments: described as Readonly<Record<string, unknown>>, unknown }
}

function pick(value: unknown, schema: JsonSchema, path: string, unknown: string[]): unknown {
  if (Array.isArray(value)) {
    const { items } = schema
    return isObject(items)
      ? value.map((entry, at) => pick(entry, items, `${path}${at}.`, unknown))
      : value
  }
  const { properties, additionalProperties } = schema
  if (!isObject(value) || !isObject(properties) || !isClosed(schema)) return value
  const entries = Object.entries(value).filter(([name]) => {
    const isKnown = Object.hasOwn(properties, name) || isObject(additionalProperties)
    if (!isKnown) unknown.push(`${path}${name}`)
    return isKnown
  })
  return Object.fromEntries(
    entries.map(([name, entry]) => {
      const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
      return [name, isObject(own) ? pick(entry, own, `${path}${name}.`, unknown) : entry]
    }),
  )
}

/** Returns true if a schema names every property that it allows. */
function isClosed(schema: JsonSchema): boolean {
  const open = [
    'patternProperties',
    'allOf',
    'anyOf',
    'oneOf',
    '$ref',
    'if',
    'unevaluatedProperties',
  ]
  return schema['additionalProperties'] !== true && !open.some((key) => Object.hasOwn(schema, key))
}

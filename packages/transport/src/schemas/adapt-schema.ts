import type { JsonSchema } from '@lamella/core'
import { isObject } from '@lamella/core/authoring'
import { listOf, recordOf } from '../wire/wire.ts'
import { joinedProperties, schemaPart } from './schema-parts.ts'

/** Rules of a provider for the schemas of tools. */
export interface SchemaRules {
  /** Pattern that the names of properties must match. @default any name */
  readonly propertyName?: RegExp | undefined
}

/** A schema as a provider accepts it. */
export interface AdaptedSchema {
  /** Schema of an object, as it is sent. */
  readonly schema: JsonSchema
  /** The names of properties that were changed: each by the name that is sent. */
  readonly aliases: ReadonlyMap<string, string>
}

/** Says why a schema has no form that a provider accepts, in words that quote nothing of it. */
export class UnfitSchema {
  /** Cause, as a fixed text. */
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

const unions = ['anyOf', 'oneOf', 'allOf'] as const
const mostDepth = 64

/**
 * Writes the schema of a tool as providers accept it: an object without a union at its top, in the
 * words of JSON Schema 2020-12, with `items` for each list. What is lost of it only widens what the
 * model may write, and the arguments are checked by the tool's own schema.
 */
export function adaptSchema(
  given: JsonSchema,
  rules: SchemaRules = {},
): AdaptedSchema | UnfitSchema {
  const names = new Aliases(given, rules.propertyName)
  try {
    const schema = topObject(adapted(given, names, 0))
    return { schema, aliases: names.bySent }
  } catch (error) {
    // References may be malformed, and the rest is unknown data, too.
    return error instanceof UnfitSchema ? error : new UnfitSchema('its schema cannot be read')
  }
}

/** Arguments with the tool's own names of properties, from those that the model was shown. */
export function ownArguments(text: string, aliases: ReadonlyMap<string, string>): string {
  const renamed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renamed)
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [aliases.get(name) ?? name, renamed(inner)]),
    )
  }
  try {
    return JSON.stringify(renamed(JSON.parse(text)))
  } catch {
    return text
  }
}

/** Names for properties that a provider refuses. Each is the same wherever it stands. */
class Aliases {
  readonly bySent = new Map<string, string>()
  readonly #sent = new Map<string, string>()
  readonly #pattern: RegExp | undefined
  readonly #taken: string

  constructor(schema: JsonSchema, pattern: RegExp | undefined) {
    this.#pattern = pattern
    this.#taken = pattern === undefined ? '' : JSON.stringify(schema)
  }

  of(name: string): string {
    if (this.#pattern === undefined || this.#pattern.test(name)) return name
    let sent = this.#sent.get(name)
    if (sent === undefined) {
      const plain = name.replaceAll(/[^\w-]+/g, '_').slice(0, 48) || 'property'
      for (let count = 1; sent === undefined; count++) {
        const wished = `${plain}_${count}`
        if (!this.bySent.has(wished) && !this.#taken.includes(`"${wished}"`)) sent = wished
      }
      this.#sent.set(name, sent)
      this.bySent.set(sent, name)
    }
    return sent
  }
}

/** A part of a schema in the words of 2020-12. */
function adapted(part: unknown, names: Aliases, depth: number): Record<string, unknown> {
  if (depth > mostDepth) throw new UnfitSchema('its schema is nested too deep')
  const made: Record<string, unknown> = {}
  for (const [word, value] of Object.entries(recordOf(part))) {
    switch (word) {
      case '$schema':
      case '$id':
      case 'id':
      case '$comment':
      case 'dependencies':
      case 'additionalItems':
        break
      case 'properties':
        made[word] = mapped(value, (name) => names.of(name), names, depth)
        break
      case '$defs':
      case 'definitions':
      case 'patternProperties':
      case 'dependentSchemas':
        made[word] = mapped(value, (name) => name, names, depth)
        break
      case 'items':
        // Lists of schemas are tuples of older drafts.
        made[word] = Array.isArray(value)
          ? { anyOf: value.map((one) => orBoolean(one, names, depth)) }
          : isObject(value)
            ? adapted(value, names, depth + 1)
            : {}
        break
      case 'prefixItems':
        made[word] = listOf(value).map((one) => orBoolean(one, names, depth))
        break
      case 'anyOf':
      case 'oneOf':
      case 'allOf':
        if (listOf(value).length > 0) {
          made[word] = listOf(value).map((one) => orBoolean(one, names, depth))
        }
        break
      case 'not':
      case 'if':
      case 'then':
      case 'else':
      case 'contains':
      case 'propertyNames':
      case 'unevaluatedProperties':
      case 'unevaluatedItems':
      case 'additionalProperties':
        made[word] = orBoolean(value, names, depth)
        break
      case 'required':
        // A boolean is of draft 3.
        if (Array.isArray(value)) made[word] = value.map((name) => names.of(String(name)))
        break
      case 'exclusiveMinimum':
      case 'exclusiveMaximum':
        if (typeof value === 'number') made[word] = value
        break
      case 'nullable':
        break
      case '$ref':
        if (typeof value !== 'string' || !value.startsWith('#')) {
          throw new UnfitSchema('its schema refers to another document')
        }
        made[word] = value
        break
      default:
        made[word] = value
    }
  }
  return withoutDrafts(made, recordOf(part))
}

/** Replaces what older drafts and OpenAPI say with a second word beside the first. */
function withoutDrafts(made: Record<string, unknown>, given: Readonly<Record<string, unknown>>) {
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (given[exclusive] !== true || made[limit] === undefined) continue
    made[exclusive] = made[limit]
    delete made[limit]
  }
  const { type } = made
  if (type === 'any' || type === null) delete made['type']
  if (given['nullable'] === true && typeof type === 'string') made['type'] = [type, 'null']
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array'))
  if (isList && made['items'] === undefined) made['items'] = {}
  return made
}

function orBoolean(value: unknown, names: Aliases, depth: number): unknown {
  return isObject(value) ? adapted(value, names, depth + 1) : value !== false
}

function mapped(
  value: unknown,
  nameOf: (name: string) => string,
  names: Aliases,
  depth: number,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(recordOf(value)).map(([name, part]) => [
      nameOf(name),
      orBoolean(part, names, depth),
    ]),
  )
}

/** The schema as one object: what a reference or a union at its top says stands in it. */
function topObject(schema: Record<string, unknown>): JsonSchema {
  const known = new Set<unknown>()
  let top = schema
  while (typeof top['$ref'] === 'string') {
    const { $ref: reference, ...rest } = top
    const target = known.has(reference) ? undefined : targetOf(schema, reference)
    known.add(reference)
    if (target === undefined) throw new UnfitSchema('its schema refers to nothing')
    top = { ...target, ...rest }
  }
  const { not: _not, enum: _enum, const: _const, if: _if, then: _then, else: _else, ...rest } = top
  const whole = unions.some((word) => word in rest) ? joinedUnions(rest, schema) : rest
  const { type = 'object' } = whole
  const isObjectType = type === 'object' || (Array.isArray(type) && type.includes('object'))
  if (!isObjectType) throw new UnfitSchema('its schema is not that of an object')
  return { ...whole, type: 'object', properties: recordOf(whole['properties']) }
}

/** All properties of the branches. A property is required if every branch, or the object itself, asks for it. */
function joinedUnions(
  top: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { anyOf, oneOf, allOf, ...rest } = top
  let properties = recordOf(rest['properties'])
  const required = new Set(listOf(rest['required']))
  for (const [branches, isAll] of [
    [anyOf, false],
    [oneOf, false],
    [allOf, true],
  ] as const) {
    const parts = listOf(branches).map((branch) => {
      const { $ref: reference } = recordOf(branch)
      const part =
        typeof reference === 'string' ? (targetOf(schema, reference) ?? {}) : recordOf(branch)
      return unions.some((word) => word in part) ? joinedUnions(part, {}) : part
    })
    for (const { properties: more } of parts) properties = joinedProperties(properties, more)
    const asked = parts.map((part) => new Set(listOf(part['required'])))
    for (const name of asked.flatMap((names) => [...names])) {
      if (isAll || asked.every((names) => names.has(name))) required.add(name)
    }
  }
  const closed = { ...rest }
  delete closed['additionalProperties']
  return {
    ...closed,
    properties,
    ...(required.size > 0 && { required: [...required] }),
  }
}

/** The part of the schema that a reference names, if it is another one. */
function targetOf(
  schema: Readonly<Record<string, unknown>>,
  reference: string,
): Record<string, unknown> | undefined {
  const part = schemaPart(schema, reference)
  return isObject(part) && part !== schema ? { ...part } : undefined
}

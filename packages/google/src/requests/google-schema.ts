import type { JsonSchema } from '@lamella/core'
import { isObject } from '@lamella/core/authoring'
import type { WireObject } from '@lamella/transport'
import {
  joinedProperties,
  listOf,
  recordOf,
  schemaPart,
  stringOf,
  UnfitSchema,
} from '@lamella/transport'

/** A schema as Google takes it, or the reason why there is none. */
export type AdaptedSchema =
  | { readonly schema: WireObject; readonly reason?: undefined }
  | { readonly schema?: undefined; readonly reason: string }

// https://ai.google.dev/api/generate-content#FIELDS.response_json_schema, 2026-11.
const kept = wordsOf(
  'title description required minItems maxItems minimum maximum propertyOrdering',
)

const formats = wordsOf('date-time date time int32 int64 float double')

// They say nothing about what fits.
const dropped = wordsOf(
  '$schema $id id $anchor $comment $defs definitions examples example deprecated readOnly writeOnly additionalItems nullable',
)

function wordsOf(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}

const deepest = 48
const most = 20_000

/**
 * The schema in the subset of JSON Schema that Google takes. What it refuses, such as `pattern`, becomes
 * part of the description, and is checked here when the value comes. With `asObject`, the result has the
 * type `object` at the top, as parameters of a tool need it.
 */
export function googleSchema(schema: JsonSchema, asObject = false): AdaptedSchema {
  try {
    const adapter = new SchemaAdapter(schema)
    const top = asObject ? adapter.object(schema) : adapter.adapt(schema, 0)
    return { schema: adapter.withDefinitions(top) }
  } catch (error) {
    if (error instanceof UnfitSchema) return { reason: error.reason }
    throw error
  }
}

class SchemaAdapter {
  readonly #root: JsonSchema
  #left = most
  /** The names of definitions, by what `$ref` says. */
  readonly #names = new Map<string, string>()
  readonly #definitions = new Map<string, WireObject>()

  constructor(root: JsonSchema) {
    this.#root = root
  }

  withDefinitions(top: WireObject): WireObject {
    if (this.#definitions.size === 0) return top
    return { ...top, $defs: Object.fromEntries(this.#definitions) }
  }

  /** Parameters are one object: references and unions at the top become part of it. */
  object(schema: JsonSchema): WireObject {
    const { anyOf, oneOf, ...own } = this.#resolve(schema)
    const choices = listOf(anyOf ?? oneOf).map((part) => this.#resolve(part))
    const whole = choices.length > 0 ? union(own, choices) : own
    if (whole['type'] !== 'object' && whole['properties'] === undefined) {
      throw new UnfitSchema('its parameters are no object')
    }
    return this.adapt({ ...whole, type: 'object' }, 0)
  }

  adapt(schema: JsonSchema, depth: number): WireObject {
    this.#count(depth)
    if (schema['allOf'] !== undefined) return this.adapt(this.#resolve(schema), depth + 1)
    if (schema['$ref'] !== undefined) return this.#reference(schema, depth)
    const shown = new Map<string, unknown>()
    const notes: string[] = []
    const note = (keyword: string, value: unknown): void => {
      notes.push(`${keyword}: ${JSON.stringify(value)}`)
    }
    for (const [keyword, value] of Object.entries(schema)) {
      switch (keyword) {
        case 'type':
          shown.set(keyword, withNull(value, schema['nullable']))
          break
        case 'properties':
          shown.set(keyword, this.#parts(value, depth))
          break
        case 'items':
          // A list of items is the older form of `prefixItems`.
          if (Array.isArray(value)) shown.set('prefixItems', this.#list(value, depth))
          else shown.set(keyword, this.#part(value, depth))
          break
        case 'prefixItems':
          shown.set(keyword, this.#list(value, depth))
          break
        case 'anyOf':
        case 'oneOf':
          shown.set('anyOf', this.#list(value, depth))
          break
        case 'additionalProperties':
          shown.set(keyword, isObject(value) ? this.#part(value, depth) : value)
          break
        case 'enum':
        case 'const': {
          const all = keyword === 'const' ? [value] : listOf(value)
          // An empty text and values of other types are refused.
          const taken = all.filter((each) => each !== '' && /string|number/.test(typeof each))
          if (taken.length > 0) shown.set('enum', taken)
          if (taken.length < all.length) note(keyword, value)
          break
        }
        case 'format':
          if (formats.has(String(value))) shown.set(keyword, value)
          else note(keyword, value)
          break
        default:
          if (kept.has(keyword)) shown.set(keyword, value)
          else if (!dropped.has(keyword)) note(keyword, value)
      }
    }
    if (notes.length > 0) shown.set('description', described(schema['description'], notes))
    // Creates own properties, also for a field named `__proto__`.
    return Object.fromEntries(shown)
  }

  /** Nothing but a description may stand beside a reference. */
  #reference({ $ref: reference, description }: JsonSchema, depth: number): WireObject {
    const key = String(reference)
    let name = this.#names.get(key)
    if (name === undefined) {
      const target = this.#find(reference)
      const last = key.slice(key.search(/[^#/]*$/)).replace(/\W/g, '_') || 'root'
      name = this.#definitions.has(last) ? `${last}_${this.#names.size}` : last
      this.#names.set(key, name)
      this.#definitions.set(name, {})
      this.#definitions.set(name, this.#part(target, depth))
    }
    const link = { $ref: `#/$defs/${name}` }
    return typeof description === 'string' ? { anyOf: [link], description } : link
  }

  /** Puts what a reference names and what holds at once into the schema itself. */
  #resolve(part: unknown, depth = 0): JsonSchema {
    this.#count(depth)
    const { $ref: reference, allOf, ...own } = recordOf(part)
    const parts = [...(reference === undefined ? [] : [this.#find(reference)]), ...listOf(allOf)]
    if (parts.length === 0) return own
    return merged([...parts.map((each) => this.#resolve(each, depth + 1)), own])
  }

  /** Schemas of strangers may be of any size. */
  #count(depth: number): void {
    if (depth > deepest) throw new UnfitSchema('its schema is nested too deeply')
    if (this.#left-- === 0) throw new UnfitSchema('its schema is too large')
  }

  /** Follows a reference within the schema. */
  #find(reference: unknown): unknown {
    if (!String(reference).startsWith('#')) {
      throw new UnfitSchema('its schema refers to another document')
    }
    const found = schemaPart(this.#root, String(reference))
    if (typeof found === 'object' && found !== null) return found
    if (typeof found === 'boolean') return {}
    throw new UnfitSchema('its schema refers to a definition that is not there')
  }

  #parts(parts: unknown, depth: number): WireObject {
    return Object.fromEntries(
      Object.entries(recordOf(parts)).flatMap(([name, part]) =>
        part === false ? [] : [[name, this.#part(part, depth)]],
      ),
    )
  }

  #list(parts: unknown, depth: number): readonly WireObject[] {
    return listOf(parts).map((part) => this.#part(part, depth))
  }

  #part(part: unknown, depth: number): WireObject {
    return this.adapt(recordOf(part), depth + 1)
  }
}

/** Several schemas that hold at once, as one. */
function merged(schemas: readonly JsonSchema[]): JsonSchema {
  const all = new Map<string, unknown>()
  for (const [keyword, value] of schemas.flatMap((schema) => Object.entries(schema))) {
    const had = all.get(keyword)
    if (keyword === 'properties') all.set(keyword, joinedProperties(had, value))
    else if (keyword === 'required')
      all.set(keyword, [...new Set([...listOf(had), ...listOf(value)])])
    else if (keyword === 'allOf') all.set(keyword, [...listOf(had), ...listOf(value)])
    else all.set(keyword, value)
  }
  return Object.fromEntries(all)
}

/** An object that has the properties of all choices, and says which of them go together. */
function union(own: JsonSchema, choices: readonly JsonSchema[]): JsonSchema {
  const objects = choices.filter(({ type }) => type === undefined || type === 'object')
  if (objects.length === 0) throw new UnfitSchema('its parameters are no object')
  const needed = objects.map(({ required }) => listOf(required))
  const always = needed[0]!.filter((name) => needed.every((names) => names.includes(name)))
  const notes = [`one of these groups of properties: ${JSON.stringify(needed)}`]
  return {
    ...own,
    properties: objects.reduce(
      (all, { properties }) => joinedProperties(all, properties),
      recordOf(own['properties']),
    ),
    required: [...new Set([...listOf(own['required']), ...always])],
    description: described(own['description'], notes),
  }
}

function described(description: unknown, notes: readonly string[]): string {
  const note = `{${notes.join(', ')}}`
  return stringOf(description) === undefined ? note : `${String(description)}\n\n${note}`
}

/** OpenAPI's way to allow null. */
function withNull(type: unknown, nullable: unknown): unknown {
  return nullable === true && typeof type === 'string' && type !== 'null' ? [type, 'null'] : type
}

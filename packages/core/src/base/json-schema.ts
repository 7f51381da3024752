import { none } from './none.ts'
import { isObject } from './plain-data.ts'
import { checkValue } from './check-options.ts'
import type { JsonSchema, Schema, StandardIssue } from './standard-schema.ts'
import { canonicalJson, isJson } from './json.ts'

/**
 * Makes a schema from a JSON Schema, draft 7 or 2020-12, for a tool, a response format, or a state. The model is
 * shown it as it is. A value that fits is returned unchanged; `Output` is its type, which is not inferred. `$ref`
 * leads only into the schema itself, `format` and `unevaluated…` are not checked, and unknown keywords are ignored.
 * @throws TypeError if `schema` is no object
 *
 * @example
 * ```ts
 * import { jsonSchema, tool } from '@lamella/core'
 *
 * const weather = tool({
 *   name: 'weather',
 *   description: 'Returns the weather of a city.',
 *   parameters: jsonSchema<{ city: string }>({
 *     type: 'object',
 *     properties: { city: { type: 'string' } },
 *     required: ['city'],
 *   }),
 *   execute: ({ city }) => `It is sunny in ${city}.`,
 * })
 * console.log(weather.name) // weather
 * ```
 */
export function jsonSchema<Output = Record<string, unknown>>(schema: JsonSchema): Schema<Output> {
  checkJsonSchema('jsonSchema: `schema`', schema)
  const described = (): JsonSchema => schema
  return {
    '~standard': {
      version: 1,
      vendor: 'lamella',
      validate(value) {
        const issues = validateJsonSchema(schema, value)
        return issues.length > 0 ? { issues } : { value: value as Output }
      },
      jsonSchema: { input: described, output: described },
    },
  }
}

/**
 * Checks that a value is a JSON Schema. One that `z.toJSONSchema()` made has a hidden `~standard`.
 * @throws TypeError for a Standard Schema, and for what is no object
 */
export function checkJsonSchema(option: string, schema: unknown): void {
  const given = Object(schema) as object
  const isPlain = Object.getPrototypeOf(given) === Object.prototype
  const isOwn = isPlain ? !Object.keys(given).includes('~standard') : !('~standard' in given)
  const rule = 'be a JSON Schema; pass a Standard Schema as `parameters`'
  checkValue(isObject(schema) && isOwn, option, rule, schema)
}

/**
 * Checks a value against a JSON Schema, draft 7 or 2020-12, as far as tools use them: `$ref` only
 * within the schema, no `format` or `unevaluated…`. Unknown keywords are
 * ignored; a schema that cannot be followed, or takes too much work, is an issue. Never throws, and
 * returns at most 100 issues.
 */
export function validateJsonSchema(schema: JsonSchema, value: unknown): readonly StandardIssue[] {
  try {
    return check(schema, value, { root: schema, followed: {}, enums: new Map(), steps: 0 })
  } catch (error) {
    // Too deep for the stack, a broken reference or pattern: what cannot be checked does not pass.
    return [{ message: `cannot be checked: ${(error as Error).message}` }]
  }
}

/** The path begins at the value that was checked. */
interface Issue {
  readonly message: string
  readonly path: readonly PropertyKey[]
}

interface Visit {
  readonly root: unknown
  /**
   * By `$ref`, the issues of each value that it was applied to: without it, alternatives that lead
   * to the same reference take exponential time.
   */
  readonly followed: Record<string, Map<unknown, readonly Issue[]>>
  /** By list of values, the values and what is said of another one. */
  readonly enums: Map<unknown, EnumValues>
  /** Steps of work so far. */
  steps: number
}

interface EnumValues {
  readonly plain: ReadonlySet<unknown>
  readonly texts: ReadonlySet<string | undefined>
  readonly message: string
}

const mostIssues = 100

/** Takes less than half a second. A schema and a value of a stranger may multiply to hours. */
const mostSteps = 1_000_000

function spend(visit: Visit, steps: number): void {
  visit.steps += steps
  if (visit.steps > mostSteps) throw new Error('the schema and the value need too much work')
}

type Keywords = Readonly<Record<string, unknown>>

/** Context of a keyword: its schema and the issues found so far. */
interface Place {
  readonly schema: Keywords
  readonly visit: Visit
  readonly issues: Issue[]
}

/** Adds what a keyword finds to the issues; false for a value that does not fit it as a whole. */
type Rule = (value: never, limit: never, place: Place) => boolean | void

/** Rules of keywords that apply to any value. Keywords without a rule are ignored. */
const common: Record<string, Rule> = {
  __proto__: null as never,
  const(value: unknown, only: unknown, { issues, visit }) {
    const text = textOf(only, visit)
    if (only === value || text === textOf(value, visit)) return
    issues.push({ message: `must be ${told(text ?? '')}`, path: [] })
  },
  enum: checkEnum,
  $ref(value: unknown, ref: string, { visit, issues }) {
    spend(visit, ref.length / 8)
    const known = (visit.followed[ref] ??= new Map<unknown, readonly Issue[]>())
    if (!known.has(value)) known.set(value, check(resolve(visit.root, ref), value, visit))
    issues.push(...known.get(value)!)
  },
  allOf(value: unknown, parts: unknown, place) {
    for (const part of listOf(parts)) also(part, value, place)
  },
  anyOf: (value: unknown, parts: unknown, place) =>
    checkAlternatives(value, parts, Infinity, place),
  oneOf: (value: unknown, parts: unknown, place) => checkAlternatives(value, parts, 1, place),
  not: (value: unknown, part: unknown, place) => !fits(part, value, place),
  if: (value: unknown, test: unknown, place) =>
    also(place.schema[fits(test, value, place) ? 'then' : 'else'], value, place),
}

/** By type of the value, what more keywords say of it. */
const rules: Record<string, Record<string, Rule>> = {
  number: {
    __proto__: common as never,
    minimum: (value: number, limit: number) => value >= limit,
    maximum: (value: number, limit: number) => value <= limit,
    // In draft 4, `exclusiveMinimum` is a boolean.
    exclusiveMinimum: (value: number, limit: number) => value > limit || typeof limit === 'boolean',
    exclusiveMaximum: (value: number, limit: number) => value < limit || typeof limit === 'boolean',
    // 0.3 / 0.1 is 2.9999999999999996.
    multipleOf: (value: number, limit: number) =>
      Math.abs(value / limit - Math.round(value / limit)) < 1e-9,
  },
  string: {
    __proto__: common as never,
    minLength: (value: string, limit: number, place) => lengthOf(value, place) >= limit,
    maxLength: (value: string, limit: number, place) => lengthOf(value, place) <= limit,
    pattern: matches,
  },
  array: {
    __proto__: common as never,
    minItems: (list: unknown[], limit: number) => list.length >= limit,
    maxItems: (list: unknown[], limit: number) => list.length <= limit,
    items: checkItems,
    prefixItems(list: unknown[], _parts: unknown, place) {
      if (place.schema['items'] === undefined) checkItems(list, undefined, place)
    },
    contains(list: unknown[], part: unknown, place) {
      const { minContains = 1, maxContains = Infinity } = place.schema
      const found = list.filter((item) => fits(part, item, place)).length
      return found >= (minContains as number) && found <= (maxContains as number)
    },
    uniqueItems: (list: unknown[], isUnique: unknown, place) =>
      isUnique !== true ||
      new Set(list.map((item) => textOf(item, place.visit))).size === list.length,
  },
  object: {
    __proto__: common as never,
    minProperties: (value: Keywords, limit: number, place) => keysOf(value, place).length >= limit,
    maxProperties: (value: Keywords, limit: number, place) => keysOf(value, place).length <= limit,
    required(value: Keywords, keys: unknown, { issues, visit }) {
      spend(visit, listOf(keys).length)
      for (const key of listOf(keys) as readonly string[]) {
        if (own(value, key) === undefined) issues.push({ message: 'is required', path: [key] })
      }
    },
    properties(value: Keywords, parts: unknown, place) {
      for (const key of keysOf(value, place)) checkAt(key, own(parts, key), value[key], place)
    },
    patternProperties(value: Keywords, parts: unknown, place) {
      for (const [pattern, part] of entriesOf(parts)) {
        for (const key of keysOf(value, place)) {
          if (matches(key, pattern)) checkAt(key, part, value[key], place)
        }
      }
    },
    additionalProperties(value: Keywords, part: unknown, place) {
      const { properties, patternProperties } = place.schema
      const patterns = entriesOf(patternProperties)
      for (const key of keysOf(value, place)) {
        spend(place.visit, patterns.length)
        if (own(properties, key) !== undefined) continue
        if (patterns.some(([pattern]) => matches(key, pattern))) continue
        checkAt(key, part, value[key], place)
      }
    },
    propertyNames(value: Keywords, part: unknown, place) {
      for (const key of keysOf(value, place)) checkAt(key, part, key, place)
    },
    dependencies: checkDependencies,
    dependentRequired: checkDependencies,
    dependentSchemas: checkDependencies,
  },
}

function check(schema: unknown, value: unknown, visit: Visit): readonly Issue[] {
  spend(visit, 1)
  if (schema === false) return [{ message: 'is not allowed', path: [] }]
  if (!isObject(schema)) return none
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  const { type = kind } = schema
  if (type !== kind) {
    const types: readonly unknown[] = Array.isArray(type) ? type : [type]
    spend(visit, types.length)
    if (!types.includes(kind) && !(types.includes('integer') && Number.isInteger(value))) {
      return [{ message: `must be ${told(types.join(' or '))}`, path: [] }]
    }
  }
  const place: Place = { schema, visit, issues: [] }
  const ofKind = rules[kind] ?? common
  for (const keyword in schema) {
    const limit = schema[keyword]
    visit.steps++
    if (limit === undefined || ofKind[keyword]?.(value as never, limit as never, place) !== false)
      continue
    const amount = typeof limit === 'number' || typeof limit === 'string' ? ` ${limit}` : ''
    place.issues.push({ message: `must fit ${told(keyword + amount)}`, path: [] })
  }
  return place.issues.length > mostIssues ? place.issues.slice(0, mostIssues) : place.issues
}

/** JSON of a part, equal for equal parts. Undefined for what JSON cannot hold, such as `1e999`. */
function textOf(part: unknown, visit: Visit): string | undefined {
  const text = isJson(part) ? canonicalJson(part) : undefined
  spend(visit, 1 + (text ?? '').length / 8)
  return text
}

function checkEnum(value: unknown, values: unknown, { issues, visit }: Place): void {
  if (!Array.isArray(values)) return
  const known = visit.enums.get(values) ?? enumOf(values, visit)
  visit.enums.set(values, known)
  const { plain, texts, message } = known
  if (plain.has(value) || texts.has(textOf(value, visit))) return
  issues.push({ message, path: [] })
}

/** Cuts what a message quotes. */
function told(text: string): string {
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text
}

function enumOf(values: readonly unknown[], visit: Visit): EnumValues {
  const texts = values.map((one) => textOf(one, visit))
  const message = `must be ${told(texts.slice(0, 100).join(' or '))}`
  return { plain: new Set(values), texts: new Set(texts), message }
}

function lengthOf(value: string, { visit }: Place): number {
  spend(visit, value.length / 8)
  return Array.from(value).length
}

/** If no alternative fits, the one that came nearest says why. */
function checkAlternatives(
  value: unknown,
  parts: unknown,
  most: number,
  { visit, issues }: Place,
): boolean {
  const attempts = listOf(parts).map((part) => check(part, value, visit))
  const fitting = attempts.filter((found) => found.length === 0).length
  if (fitting > 0 || attempts.length === 0) return fitting <= most
  const [nearest] = attempts
    .filter((found) => found.every(({ path }) => path.length > 0))
    .toSorted((a, b) => a.length - b.length)
  issues.push(...(nearest ?? none))
  return nearest !== undefined
}

/** Draft 7 has the tuple in `items` and the rest in `additionalItems`. */
function checkItems(list: readonly unknown[], _items: unknown, place: Place): void {
  const { items, prefixItems = items, additionalItems } = place.schema
  const tuple = listOf(prefixItems)
  const rest = Array.isArray(items) ? additionalItems : items
  for (let key = 0; key < list.length && place.issues.length <= mostIssues; key++) {
    checkAt(key, key < tuple.length ? tuple[key] : rest, list[key], place)
  }
}

function checkDependencies(value: Keywords, parts: unknown, place: Place): void {
  const entries = entriesOf(parts)
  spend(place.visit, entries.length)
  for (const [key, needs] of entries) {
    if (own(value, key) === undefined) continue
    also(Array.isArray(needs) ? { required: needs } : needs, value, place)
  }
}

function fits(part: unknown, value: unknown, { visit }: Place): boolean {
  return check(part, value, visit).length === 0
}

function also(part: unknown, value: unknown, { visit, issues }: Place): void {
  issues.push(...check(part, value, visit))
}

function checkAt(key: PropertyKey, part: unknown, item: unknown, { visit, issues }: Place): void {
  for (const { message, path } of check(part, item, visit)) {
    // Of a place that is very deep, how it begins: time stays bounded.
    issues.push({ message, path: [key, ...path].slice(0, 20) })
  }
}

function resolve(root: unknown, ref: string): unknown {
  const [start, ...keys] = decodeURIComponent(ref).split('/')
  const found = keys.reduce<unknown>(
    (part, key) => own(part, key.replaceAll('~1', '/').replaceAll('~0', '~')),
    start === '#' ? root : undefined,
  )
  if (found === undefined) throw new Error(`the schema has no ${ref}`)
  return found
}

/** Never what a prototype has: a key may be called `constructor` or `__proto__`. */
function own(object: unknown, key: PropertyKey): unknown {
  return Object.hasOwn(object ?? {}, key) ? (object as Keywords)[key as string] : undefined
}

/** Returns keys without those that JSON would leave out. */
function keysOf(value: Keywords, { visit }: Place): readonly string[] {
  const keys = Object.keys(value)
  spend(visit, keys.length)
  return keys.filter((key) => value[key] !== undefined)
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : none
}

function matches(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return new RegExp(pattern).test(text) // such as `[\w-.]`, which only unicode mode refuses
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : none
}

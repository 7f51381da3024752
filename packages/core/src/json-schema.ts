import type { JsonSchema, StandardIssue } from './standard-schema.ts'

/**
 * Checks a value against a JSON Schema, draft 7 or 2020-12, as far as tools use them: `$ref` only
 * within the schema, no `format`, no `unevaluated…`. Unknown keywords are ignored; a schema that
 * cannot be followed is an issue. Never throws, and returns at most 100 issues.
 */
export function validateJsonSchema(schema: JsonSchema, value: unknown): StandardIssue[] {
  const visit: Visit = { root: schema, followed: {}, issues: [], path: undefined }
  try {
    check(visit, schema, value)
  } catch (error) {
    // Too deep for the stack, a broken reference or pattern: what cannot be checked does not pass.
    return [{ message: `cannot be checked: ${(error as Error).message}` }]
  }
  return visit.issues.slice(0, 100).map(({ message, path }) => ({ message, path: keysOf(path) }))
}

/** A place in the value, and what is shared while the value is walked. */
interface Visit {
  readonly root: unknown
  readonly path: Path
  readonly issues: Issue[]
  /**
   * By `$ref`, the first issue of each object that it was applied to: without it, alternatives that
   * lead to the same reference take exponential time.
   */
  readonly followed: Record<string, Map<unknown, readonly Issue[]>>
}

interface Issue {
  readonly message: string
  readonly path: Path
}

type Path = { readonly parent: Path; readonly key: PropertyKey } | undefined

type Keywords = Readonly<Record<string, unknown>>

/** By type of the value, the keywords that compare it with a limit. */
const limits: Record<string, Record<string, (value: never, limit: never) => boolean>> = {
  number: {
    minimum: (value: number, limit: number) => value >= limit,
    maximum: (value: number, limit: number) => value <= limit,
    exclusiveMinimum: (value: number, limit: number) => value > limit,
    exclusiveMaximum: (value: number, limit: number) => value < limit,
    multipleOf: isMultipleOf,
  },
  string: {
    minLength: (value: string, limit: number) => codePoints(value) >= limit,
    maxLength: (value: string, limit: number) => codePoints(value) <= limit,
    pattern: matches,
  },
  array: {
    minItems: (value: unknown[], limit: number) => value.length >= limit,
    maxItems: (value: unknown[], limit: number) => value.length <= limit,
  },
  object: {
    minProperties: (value: object, limit: number) => Object.keys(value).length >= limit,
    maxProperties: (value: object, limit: number) => Object.keys(value).length <= limit,
  },
}

function check(visit: Visit, schema: unknown, value: unknown): void {
  if (schema === false) fail(visit, 'is not allowed')
  if (!isObject(schema)) return
  const { $ref, type, const: only, enum: values, allOf, anyOf, oneOf, not, if: test } = schema
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

  if (type !== undefined) {
    const types = [type as string].flat()
    if (!types.includes(kind) && !(types.includes('integer') && Number.isInteger(value))) {
      return fail(visit, `must be ${types.join(' or ')}`)
    }
  }
  const allowed = listOf(only === undefined ? values : [only])
  if (allowed.length > 0 && !allowed.includes(value)) {
    const texts = allowed.map(canonical)
    if (!texts.includes(canonical(value))) fail(visit, `must be ${texts.join(' or ')}`)
  }
  const comparisons = limits[kind]
  for (const keyword in comparisons) {
    const limit = schema[keyword]
    // In draft 4, `exclusiveMinimum` is a boolean.
    if (limit === undefined || typeof limit === 'boolean') continue
    if (!comparisons[keyword]!(value as never, limit as never)) {
      fail(visit, `must fit ${keyword} ${limit as string}`)
    }
  }
  if (kind === 'array') checkItems(visit, schema, value as unknown[])
  if (kind === 'object') checkProperties(visit, schema, value as Keywords)

  if (typeof $ref === 'string') follow(visit, $ref, value)
  for (const part of listOf(allOf)) check(visit, part, value)
  if (anyOf !== undefined) checkAlternatives(visit, anyOf, value)
  if (oneOf !== undefined && checkAlternatives(visit, oneOf, value) > 1) {
    fail(visit, 'must fit oneOf')
  }
  if (not !== undefined && fits(visit, not, value)) fail(visit, 'must fit not')
  if (test !== undefined) {
    check(visit, fits(visit, test, value) ? schema['then'] : schema['else'], value)
  }
}

function checkItems(visit: Visit, schema: Keywords, value: unknown[]): void {
  const { items, prefixItems, additionalItems, contains, minContains = 1, maxContains } = schema
  // Draft 7 has the tuple in `items` and the rest in `additionalItems`.
  const tuple = listOf(prefixItems ?? items)
  const rest = Array.isArray(items) ? additionalItems : items
  for (const [key, item] of value.entries()) {
    check(at(visit, key), key < tuple.length ? tuple[key] : rest, item)
  }
  if (contains !== undefined) {
    const found = value.filter((item, key) => fits(at(visit, key), contains, item)).length
    if (found < (minContains as number) || found > (maxContains as number)) {
      fail(visit, 'must fit contains')
    }
  }
  if (schema['uniqueItems'] === true && new Set(value.map(canonical)).size < value.length) {
    fail(visit, 'must fit uniqueItems')
  }
}

function checkProperties(visit: Visit, schema: Keywords, value: Keywords): void {
  const { properties, patternProperties, additionalProperties, propertyNames, required } = schema
  for (const key of listOf(required) as readonly string[]) {
    if (own(value, key) === undefined) fail(at(visit, key), 'is required')
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue
    const inner = at(visit, key)
    const named = own(properties, key)
    const schemas = named === undefined ? [] : [named]
    for (const [pattern, matched] of Object.entries(patternProperties ?? {})) {
      if (matches(key, pattern)) schemas.push(matched)
    }
    for (const found of schemas.length > 0 ? schemas : [additionalProperties]) {
      check(inner, found, item)
    }
    check(inner, propertyNames, key)
  }
  for (const keyword of ['dependencies', 'dependentRequired', 'dependentSchemas']) {
    for (const [key, needed] of Object.entries(schema[keyword] ?? {})) {
      if (own(value, key) === undefined) continue
      check(visit, Array.isArray(needed) ? { required: needed } : needed, value)
    }
  }
}

/** Returns how many alternatives fit. If none does, the one that came nearest says why. */
function checkAlternatives(visit: Visit, schemas: unknown, value: unknown): number {
  const attempts = listOf(schemas).map((schema) => attempt(visit, schema, value))
  const fitting = attempts.filter((issues) => issues.length === 0).length
  if (fitting === 0) {
    const [nearest] = attempts
      .filter((issues) => issues[0]!.path !== visit.path)
      .toSorted((a, b) => a.length - b.length)
    if (nearest) visit.issues.push(...nearest)
    else fail(visit, 'must fit an alternative')
  }
  return fitting
}

function follow(visit: Visit, ref: string, value: unknown): void {
  const known = (visit.followed[ref] ??= new Map())
  let issues = known.get(value)
  if (issues === undefined) {
    issues = attempt(visit, resolve(visit.root, ref), value)
    // An object stands in one place, a number may stand in many.
    if (value === Object(value)) known.set(value, issues.slice(0, 1))
  }
  visit.issues.push(...issues)
}

function resolve(root: unknown, ref: string): unknown {
  const [start, ...keys] = decodeURIComponent(ref).split('/')
  let found = start === '#' ? root : undefined
  for (const key of keys) found = own(found, key.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (found === undefined) throw new Error(`the schema has no ${ref}`)
  return found
}

function attempt(visit: Visit, schema: unknown, value: unknown): Issue[] {
  const issues: Issue[] = []
  check({ ...visit, issues }, schema, value)
  return issues
}

function fits(visit: Visit, schema: unknown, value: unknown): boolean {
  return attempt(visit, schema, value).length === 0
}

function at(visit: Visit, key: PropertyKey): Visit {
  return { ...visit, path: { parent: visit.path, key } }
}

function fail({ issues, path }: Visit, message: string): void {
  issues.push({ message, path })
}

function keysOf(path: Path): PropertyKey[] {
  const keys: PropertyKey[] = []
  for (let place = path; place; place = place.parent) keys.push(place.key)
  return keys.toReversed()
}

function isObject(value: unknown): value is Keywords {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Never what a prototype has: a key may be called `constructor` or `__proto__`. */
function own(object: unknown, key: string): unknown {
  return Object.hasOwn(object ?? {}, key) ? (object as Keywords)[key] : undefined
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isMultipleOf(value: number, divisor: number): boolean {
  // 0.3 / 0.1 is 2.9999999999999996, and 0.3 % 0.1 is 0.09999999999999998.
  const times = value / divisor
  return value % divisor === 0 || Math.abs(1 - Math.round(times) / times) < 1e-15
}

function codePoints(text: string): number {
  return Array.from(text).length
}

function matches(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return new RegExp(pattern).test(text) // such as `[\w-.]`, which only unicode mode refuses
  }
}

/** Equal for equal JSON values, whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isObject(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

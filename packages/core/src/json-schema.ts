import { isObject } from './is-object.ts'
import type { JsonSchema, StandardIssue } from './standard-schema.ts'

/**
 * Checks a value against a JSON Schema, draft 7 or 2020-12, as far as tools use them: `$ref` only
 * within the schema, no `format` or `unevaluated…`. Unknown keywords are
 * ignored; a schema that cannot be followed is an issue. Never throws, and returns at most 100
 * issues.
 */
export function validateJsonSchema(schema: JsonSchema, value: unknown): StandardIssue[] {
  try {
    return check(schema, value, { root: schema, followed: {} })
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
  readonly followed: Record<string, Map<unknown, Issue[]>>
}

type Keywords = Readonly<Record<string, unknown>>

/** By type of the value, the keywords that compare it with a limit. */
const limits: Record<string, Record<string, (value: never, limit: never) => boolean>> = {
  number: {
    minimum: (value: number, limit: number) => value >= limit,
    maximum: (value: number, limit: number) => value <= limit,
    exclusiveMinimum: (value: number, limit: number) => value > limit,
    exclusiveMaximum: (value: number, limit: number) => value < limit,
    // 0.3 / 0.1 is 2.9999999999999996.
    multipleOf: (value: number, limit: number) =>
      Math.abs(value / limit - Math.round(value / limit)) < 1e-9,
  },
  string: {
    minLength: (value: string, limit: number) => Array.from(value).length >= limit,
    maxLength: (value: string, limit: number) => Array.from(value).length <= limit,
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

function check(schema: unknown, value: unknown, visit: Visit): Issue[] {
  if (schema === false) return [{ message: 'is not allowed', path: [] }]
  if (!isObject(schema)) return []
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  const { type = kind } = schema
  const types: readonly unknown[] = Array.isArray(type) ? type : [type]
  if (!types.includes(kind) && !(types.includes('integer') && Number.isInteger(value))) {
    return [{ message: `must be ${types.join(' or ')}`, path: [] }]
  }
  const issues: Issue[] = []
  const fail = (message: string, ...path: PropertyKey[]): unknown => issues.push({ message, path })
  const also = (part: unknown, item: unknown, ...key: PropertyKey[]): void => {
    for (const { message, path } of check(part, item, visit)) {
      // Of a place that is very deep, how it begins: time stays bounded.
      issues.push({ message, path: [...key, ...path].slice(0, 20) })
    }
  }
  const attempt = (part: unknown): Issue[] => check(part, value, visit)
  const { const: only, $ref, allOf, not, if: test } = schema
  const values = only === undefined ? schema['enum'] : [only]

  if (Array.isArray(values) && !values.includes(value)) {
    const texts = values.map(canonical)
    if (!texts.includes(canonical(value))) fail(`must be ${texts.join(' or ')}`)
  }
  for (const keyword in limits[kind]) {
    const limit = schema[keyword]
    // In draft 4, `exclusiveMinimum` is a boolean.
    if (limit === undefined || typeof limit === 'boolean') continue
    if (!limits[kind][keyword]!(value as never, limit as never)) {
      fail(`must fit ${keyword} ${limit as string}`)
    }
  }
  if (kind === 'array') {
    // Draft 7 has the tuple in `items` and the rest in `additionalItems`.
    const { items, prefixItems = items, additionalItems, uniqueItems } = schema
    const list = listOf(value)
    const tuple = listOf(prefixItems)
    const rest = Array.isArray(items) ? additionalItems : items
    for (const [key, item] of list.entries()) {
      also(key < tuple.length ? tuple[key] : rest, item, key)
    }
    const { contains, minContains = 1, maxContains = Infinity } = schema
    if (contains !== undefined) {
      const found = list.filter((item) => check(contains, item, visit).length === 0).length
      if (found < (minContains as number) || found > (maxContains as number))
        fail('must fit contains')
    }
    if (uniqueItems === true && new Set(list.map(canonical)).size < list.length) {
      fail('must fit uniqueItems')
    }
  }
  if (kind === 'object') {
    const { properties, patternProperties, additionalProperties, propertyNames, required } = schema
    for (const key of listOf(required) as readonly string[]) {
      if (own(value, key) === undefined) fail('is required', key)
    }
    for (const [key, item] of Object.entries(value as Keywords)) {
      if (item === undefined) continue
      let part = own(properties, key)
      also(propertyNames, key, key)
      for (const [pattern, matched] of Object.entries(patternProperties ?? {})) {
        if (!matches(key, pattern)) continue
        part ??= true
        also(matched, item, key)
      }
      also(part ?? additionalProperties, item, key)
    }
    for (const keyword of ['dependencies', 'dependentRequired', 'dependentSchemas']) {
      for (const [key, needs] of Object.entries(schema[keyword] ?? {})) {
        if (own(value, key) === undefined) continue
        also(Array.isArray(needs) ? { required: needs } : needs, value)
      }
    }
  }

  if (typeof $ref === 'string') {
    const known = (visit.followed[$ref] ??= new Map<unknown, Issue[]>())
    if (!known.has(value)) known.set(value, attempt(resolve(visit.root, $ref)))
    issues.push(...known.get(value)!)
  }
  for (const part of listOf(allOf)) also(part, value)
  for (const keyword of ['anyOf', 'oneOf']) {
    const attempts = listOf(schema[keyword]).map(attempt)
    if (attempts.length === 0) continue
    const fitting = attempts.filter((found) => found.length === 0).length
    // If no alternative fits, the one that came nearest says why.
    const [nearest] = attempts
      .filter(([first]) => fitting === 0 && first!.path.length > 0)
      .toSorted((a, b) => a.length - b.length)
    if (nearest) issues.push(...nearest)
    else if (fitting !== 1 && (fitting === 0 || keyword === 'oneOf')) fail(`must fit ${keyword}`)
  }
  if (not !== undefined && attempt(not).length === 0) fail('must fit not')
  if (test !== undefined) also(schema[attempt(test).length > 0 ? 'else' : 'then'], value)
  return issues.slice(0, 100)
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

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
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

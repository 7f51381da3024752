import type { JsonSchema, Schema } from '@lamella/core'
import type { StandardIssue } from '@lamella/core/authoring'
import { toJsonSchema, validate } from '@lamella/core/authoring'
import { coerceToSchema } from './coerce-to-schema.ts'
import { findBroken, findJson } from './find-json.ts'
import type { JsonValue } from './parse-json.ts'
import { parseJson } from './parse-json.ts'
import { repairJson } from './repair-json.ts'

/** A way to make an answer fit without asking again. */
export type LocalRepair = 'extract' | 'json-repair' | 'coerce'

export interface ReadOptions {
  readonly schema: Schema
  readonly repairs: readonly LocalRepair[]
  /** Longest text in characters that `jsonrepair` reads. */
  readonly maxRepairChars: number
  /** Rules beyond the schema. Their issues count like those of the schema. */
  readonly refine?:
    | ((
        value: never,
      ) => readonly StandardIssue[] | undefined | Promise<readonly StandardIssue[] | undefined>)
    | undefined
}

/** Result of reading an answer. */
export type Reading =
  | {
      readonly issues?: undefined
      /** Value that the schema returned. */
      readonly value: unknown
      /** JSON value before the schema read it. */
      readonly json: unknown
      readonly by: 'strict' | LocalRepair
    }
  | { readonly issues: readonly StandardIssue[] }

const notJson: readonly StandardIssue[] = [{ message: 'the text is not JSON' }]

/** Reads a text as JSON that matches the schema: first unchanged, then with each repair in turn. */
export async function readAnswer(text: string, options: ReadOptions): Promise<Reading> {
  const { schema, repairs, refine, maxRepairChars } = options
  const tried: unknown[] = []
  let issues: readonly StandardIssue[] | undefined

  const fit = async (json: unknown, by: 'strict' | LocalRepair): Promise<Reading> => {
    const checked = await validate(schema, json)
    if (checked.issues !== undefined) return checked
    const found = await refine?.(checked.value as never)
    return found?.length ? { issues: found } : { value: checked.value, json, by }
  }
  const attempt = async (parsed: JsonValue | undefined, by: 'strict' | LocalRepair) => {
    if (parsed === undefined) return undefined
    tried.push(parsed.value)
    const reading = await fit(parsed.value, by)
    if (reading.issues === undefined) return reading
    issues ??= reading.issues
    return undefined
  }

  const strict = await attempt(parseJson(text), 'strict')
  if (strict !== undefined) return strict
  if (tried.length === 0) {
    for (const source of repairs.includes('extract') ? findJson(text) : []) {
      const reading = await attempt(parseJson(source), 'extract')
      if (reading !== undefined) return reading
    }
    for (const source of repairs.includes('json-repair') ? findBroken(text) : []) {
      const reading = await attempt(repaired(source, maxRepairChars), 'json-repair')
      if (reading !== undefined) return reading
    }
  }
  if (repairs.includes('coerce')) {
    const described = describe(schema)
    for (const json of described === undefined ? [] : tried) {
      const coerced = coerceToSchema(described!, json)
      const reading = coerced === json ? undefined : await fit(coerced, 'coerce')
      if (reading?.issues === undefined && reading !== undefined) return reading
    }
  }
  return { issues: issues ?? notJson }
}

function repaired(source: string, maxRepairChars: number): JsonValue | undefined {
  const json = repairJson(source, maxRepairChars)
  return json === undefined ? undefined : parseJson(json)
}

function describe(schema: Schema): JsonSchema | undefined {
  try {
    return toJsonSchema(schema)
  } catch {
    // The rule does not describe the issue.
    return undefined
  }
}

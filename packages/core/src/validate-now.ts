import type { Schema, StandardResult } from './standard-schema.ts'
import { validate } from './validate.ts'

/** Checks a value at once, or gives nothing where the schema would take its time. */
export function validateNow<Output>(
  schema: Schema<Output>,
  value: unknown,
): StandardResult<Output> | undefined {
  const result = validate(schema, value)
  if (!('then' in result)) return result
  result.then(undefined, () => {})
  return undefined
}

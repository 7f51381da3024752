import type { Schema, StandardIssue, StandardResult } from './standard-schema.ts'

/**
 * Validates a value with any schema. Async only if the schema is. An exception in the schema, for
 * example in a transform, becomes an issue. Never throws.
 */
export function validate<Output>(
  schema: Schema<Output>,
  value: unknown,
): StandardResult<Output> | Promise<StandardResult<Output>> {
  try {
    const result = schema['~standard'].validate(value)
    return 'then' in result ? result.then(undefined, failed) : result
  } catch (error) {
    return failed(error)
  }
}

/**
 * Formats issues in one line for a person or a model: places and problems, without the received
 * values (unless the schema's own messages contain them).
 */
export function formatIssues(issues: readonly StandardIssue[]): string {
  const lines = issues.slice(0, 10).map(({ path = [], message }) => {
    const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment))
    return keys.length > 0 ? `${keys.join('.')}: ${message}` : message
  })
  if (issues.length > 10) lines.push(`and ${issues.length - 10} more`)
  return lines.join('; ')
}

function failed(error: unknown): { readonly issues: readonly StandardIssue[] } {
  // Not its message: `JSON.parse`, for one, quotes what it was given.
  const name = error instanceof Error ? error.name : typeof error
  return { issues: [{ message: `cannot be checked: the schema threw ${name}` }] }
}

/** Validates a value synchronously. Returns undefined if the schema is async. */
export function validateNow<Output>(
  schema: Schema<Output>,
  value: unknown,
): StandardResult<Output> | undefined {
  const result = validate(schema, value)
  return 'then' in result ? undefined : result
}

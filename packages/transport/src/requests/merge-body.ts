import { isObject } from '@lamella/core/authoring'

/**
 * Lays the fields of `over` over a request body. Objects are merged at every depth; a list or any other
 * value replaces what was there, and `undefined` removes the field.
 */
export function mergeBody(
  body: Readonly<Record<string, unknown>>,
  over: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const merged = new Map(Object.entries(body))
  for (const [field, value] of Object.entries(over)) {
    const had = merged.get(field)
    if (value === undefined) merged.delete(field)
    else merged.set(field, isObject(had) && isObject(value) ? mergeBody(had, value) : value)
  }
  // Creates own properties, also for a field named `__proto__`.
  return Object.fromEntries(merged)
}

/**
 * Tells whether JSON represents a value completely: plain objects and lists of texts, finite numbers,
 * booleans and null. With `asKey` also bytes and values with a `toJSON` of their own, such as dates:
 * different ones have different texts.
 */
export function isJson(value: unknown, asKey = false): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) {
    return value === null || typeof value === 'string' || typeof value === 'boolean'
  }
  if (asKey && (value instanceof Uint8Array || 'toJSON' in value)) return true
  if (Array.isArray(value)) return value.every((item) => isJson(item, asKey))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return false
  return (
    !('toJSON' in value) &&
    Object.values(value).every((item) => item === undefined || isJson(item, asKey))
  )
}

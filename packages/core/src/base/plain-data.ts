/** Freezes a value and the plain objects and lists in it, in place. Instances of classes stay as they are. */
export function freezePlain<Value>(value: Value): Value {
  if (!isPlain(value) || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const key of Object.keys(value)) freezePlain((value as Record<string, unknown>)[key])
  return value
}

/** Copies plain objects and lists at every depth. Instances of classes are shared with the original. */
export function copyPlain<Value>(value: Value, copies: Map<unknown, unknown> = new Map()): Value {
  if (!isPlain(value)) return value
  const before = copies.get(value)
  if (before !== undefined) return before as Value
  const copy: unknown[] | Record<string, unknown> = Array.isArray(value) ? [] : {}
  copies.set(value, copy)
  for (const key of Object.keys(value)) {
    const entry = copyPlain((value as Record<string, unknown>)[key], copies)
    // An assignment to `__proto__` would set the prototype.
    Object.defineProperty(copy, key, {
      value: entry,
      writable: true,
      enumerable: true,
      configurable: true,
    })
  }
  return copy as Value
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

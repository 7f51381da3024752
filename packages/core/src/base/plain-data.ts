/** Returns true for an object that is neither a list nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Freezes a value and the plain objects and lists in it, in place. Instances of classes stay as they are. */
export function freezePlain<Value>(value: Value): Value {
  // A model may nest its arguments deeper than the call stack reaches.
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (!isPlain(next) || Object.isFrozen(next)) continue
    Object.freeze(next)
    for (const entry of Object.values(next)) open.push(entry)
  }
  return value
}

/** Copies plain objects and lists at every depth. Instances of classes are shared with the original. */
export function copyPlain<Value>(value: Value): Value {
  if (!isPlain(value)) return value
  // Most arguments have no values that could be shared.
  const isFlat = !Array.isArray(value) && !Object.values(value).some(isPlain)
  return isFlat ? { ...value } : copyDeep(value)
}

function copyDeep<Value>(value: Value): Value {
  const copies = new Map<object, object>()
  const open: object[] = []
  const copyOf = (entry: unknown): unknown => {
    if (!isPlain(entry)) return entry
    let copy = copies.get(entry)
    if (copy === undefined) {
      copy = Array.isArray(entry) ? [] : {}
      copies.set(entry, copy)
      open.push(entry)
    }
    return copy
  }
  const result = copyOf(value)
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    const copy = copies.get(from)!
    for (const [key, entry] of Object.entries(from)) {
      // An assignment to `__proto__` would set the prototype.
      Object.defineProperty(copy, key, {
        value: copyOf(entry),
        writable: true,
        enumerable: true,
        configurable: true,
      })
    }
  }
  return result as Value
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

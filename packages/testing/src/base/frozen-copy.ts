/** Copies plain objects and lists at every depth and freezes the copies; other values stay. */
export function frozenCopy<T>(value: T, seen: Map<unknown, unknown> = new Map()): T {
  if (typeof value !== 'object' || value === null) return value
  if (seen.has(value)) return seen.get(value) as T
  if (Array.isArray(value)) {
    const list: unknown[] = []
    seen.set(value, list)
    for (const entry of value) list.push(frozenCopy(entry, seen))
    return Object.freeze(list) as T
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const copy: Record<string, unknown> = {}
  seen.set(value, copy)
  for (const [key, entry] of Object.entries(value)) copy[key] = frozenCopy(entry, seen)
  return Object.freeze(copy) as T
}

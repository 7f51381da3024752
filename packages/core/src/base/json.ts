/** Copies `value` as a store returns it: plain JSON, with bytes in base64. */
export function jsonCopy<Value>(value: Value): Value {
  const json = JSON.stringify(value, function (this: Record<string, unknown>, key, entry) {
    // What has a `toJSON` was converted by now, such as a Buffer of Node's.
    const original = this[key]
    return original instanceof Uint8Array ? toBase64(original) : (entry as unknown)
  })
  return JSON.parse(json) as Value
}

/**
 * Returns the value as JSON, itself if it is that: see `toFunctionResult` for what becomes of other values.
 * @throws what the value throws; RangeError for one that nests too deeply
 */
export function toJson(value: unknown): unknown {
  return value === undefined || isJson(value) ? value : converted(value, '', [])
}

/** Undefined for what JSON leaves out. */
function converted(given: unknown, key: string, parents: unknown[]): unknown {
  if (typeof given === 'bigint') return String(given)
  if (typeof given === 'number') return Number.isFinite(given) ? given : null
  if (typeof given === 'function' || typeof given === 'symbol') return undefined
  if (typeof given !== 'object' || given === null) return given
  if (parents.includes(given)) return '[Circular]'
  if (given instanceof Uint8Array) return toBase64(given)
  const around = [...parents, given]
  const { toJSON } = given as { toJSON?: unknown }
  if (typeof toJSON === 'function') return converted(toJSON.call(given, key), key, around)
  if (given instanceof Error) return { name: given.name, message: given.message }
  const list = (items: Iterable<unknown>): unknown[] =>
    Array.from(items, (item, at) => converted(item, String(at), around) ?? null)
  if (Array.isArray(given) || given instanceof Set || isTypedArray(given)) return list(given)
  const isMap = given instanceof Map
  if (isMap && ![...given.keys()].every((name) => typeof name === 'string')) return list(given)
  const entries = isMap ? [...(given as Map<string, unknown>)] : Object.entries(given)
  const fields = entries.map(([name, entry]) => [name, converted(entry, name, around)] as const)
  return Object.fromEntries(fields.filter(([, entry]) => entry !== undefined))
}

function isTypedArray(value: object): value is object & Iterable<unknown> {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
}

/** Bytes as base64. Text is base64 already. */
export function toBase64(bytes: string | Uint8Array): string {
  if (typeof bytes === 'string') return bytes
  let binary = ''
  // One argument each, of which there may not be too many.
  for (let at = 0; at < bytes.length; at += 8192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  }
  return btoa(binary)
}

/**
 * Canonical JSON text of a value (RFC 8785): keys in the order of their UTF-16 code units, no
 * spaces. Like `JSON.stringify`, it calls `toJSON` and omits undefined values. Bytes are base64, as
 * in stores.
 * @throws TypeError for what JSON cannot hold: a number that is not finite, a bigint, a cycle
 */
export function canonicalJson(value: unknown): string {
  return write(value, '', []) ?? 'null'
}

/** Nothing for what JSON leaves out. */
function write(given: unknown, name: string, parents: unknown[]): string | undefined {
  const value = typeof given === 'object' && given !== null ? asGiven(given, name) : given
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError(`canonicalJson: ${value} is no JSON number`)
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (parents.includes(value)) throw new TypeError('canonicalJson: the value contains itself')
  parents.push(value)
  const text = Array.isArray(value) ? writeList(value, parents) : writeObject(value, parents)
  parents.pop()
  return text
}

/** An object as JSON takes it. */
function asGiven(value: object, name: string): unknown {
  if (value instanceof Uint8Array) return toBase64(value)
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? toJSON.call(value, name) : value
}

function writeList(list: readonly unknown[], parents: unknown[]): string {
  let text = ''
  for (let at = 0; at < list.length; at++) {
    text += `${at === 0 ? '' : ','}${write(list[at], String(at), parents) ?? 'null'}`
  }
  return `[${text}]`
}

function writeObject(value: object, parents: unknown[]): string {
  const keys = Object.keys(value)
  if (keys.some((key, at) => at > 0 && key < keys[at - 1]!)) keys.sort()
  let text = ''
  for (const key of keys) {
    const item = write((value as Record<string, unknown>)[key], key, parents)
    if (item !== undefined) text += `${text && ','}${JSON.stringify(key)}:${item}`
  }
  return `{${text}}`
}

/**
 * Returns true if JSON represents `value` completely: plain objects and lists of texts, finite
 * numbers, booleans and null, without cycles. `isLeaf` accepts objects of other kinds.
 */
export function isJson(value: unknown, isLeaf: (value: object) => boolean = noLeaf): boolean {
  return isJsonInside(value, isLeaf, [])
}

function isJsonInside(
  value: unknown,
  isLeaf: (value: object) => boolean,
  parents: object[],
): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) {
    return value === null || typeof value === 'string' || typeof value === 'boolean'
  }
  if (isLeaf(value)) return true
  if (parents.includes(value) || 'toJSON' in value) return false
  if (!Array.isArray(value) && !isPlain(value)) return false
  parents.push(value)
  const isAll = Array.isArray(value)
    ? Array.from(value).every((item) => isJsonInside(item, isLeaf, parents))
    : Object.values(value).every(
        (item) => item === undefined || isJsonInside(item, isLeaf, parents),
      )
  parents.pop()
  return isAll
}

function noLeaf(): boolean {
  return false
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

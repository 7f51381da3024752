/**
 * The one JSON text of a value (RFC 8785): keys in the order of their UTF-16 code units, no spaces.
 * Like `JSON.stringify` it heeds `toJSON` and leaves out what is undefined.
 * @throws TypeError for what JSON cannot hold: a number that is not finite, a bigint, a cycle
 */
export function canonicalJson(value: unknown): string {
  return write(value, [])
}

function write(given: unknown, parents: unknown[]): string {
  const value =
    typeof (given as { toJSON?: unknown } | null | undefined)?.toJSON === 'function'
      ? (given as { toJSON(): unknown }).toJSON()
      : given
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError(`canonicalJson: ${value} is no JSON number`)
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (parents.includes(value)) throw new TypeError('canonicalJson: the value contains itself')
  parents.push(value)
  const text = Array.isArray(value)
    ? `[${value.map((item) => write(item, parents)).join(',')}]`
    : writeObject(value as Record<string, unknown>, parents)
  parents.pop()
  return text
}

function writeObject(value: Record<string, unknown>, parents: unknown[]): string {
  let text = ''
  for (const key of Object.keys(value).toSorted()) {
    const item = value[key]
    if (item === undefined || typeof item === 'function' || typeof item === 'symbol') continue
    text += `${text && ','}${JSON.stringify(key)}:${write(item, parents)}`
  }
  return `{${text}}`
}

/** A copy of `value` as a store gives it back: plain JSON, with bytes in base64. */
export function jsonCopy<Value>(value: Value): Value {
  const json = JSON.stringify(value, function (this: Record<string, unknown>, key, converted) {
    // What has a `toJSON` was converted by now, such as a Buffer of Node's.
    const original = this[key]
    return original instanceof Uint8Array ? base64(original) : (converted as unknown)
  })
  return JSON.parse(json) as Value
}

function base64(bytes: Uint8Array): string {
  let binary = ''
  // One argument each, of which there may not be too many.
  for (let at = 0; at < bytes.length; at += 8192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  }
  return btoa(binary)
}

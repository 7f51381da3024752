import { base64 } from './base64.ts'

/** A copy of `value` as a store gives it back: plain JSON, with bytes in base64. */
export function jsonCopy<Value>(value: Value): Value {
  const json = JSON.stringify(value, function (this: Record<string, unknown>, key, converted) {
    // What has a `toJSON` was converted by now, such as a Buffer of Node's.
    const original = this[key]
    return original instanceof Uint8Array ? base64(original) : (converted as unknown)
  })
  return JSON.parse(json) as Value
}

/** An object of unknown fields. What is none has none. */
export type WireObject = Readonly<Record<string, unknown>>

const nothing: WireObject = Object.freeze({})

/** Reads untrusted JSON: gateways that speak the format leave out, null and rename fields. */
export function record(value: unknown): WireObject {
  return typeof value === 'object' && value !== null ? (value as WireObject) : nothing
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A text, or nothing if it is empty or something else. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

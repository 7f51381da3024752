/** A parsed value. The object tells a parsed `null` from no result. */
export interface JsonValue {
  /** The parsed value. */
  readonly value: unknown
}

/** Reads JSON exactly as RFC 8259 defines it. Returns `undefined` for any other text. Never throws. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** A value that was read; so that `null` and nothing differ. */
export interface JsonValue {
  readonly value: unknown
}

/** Reads JSON as RFC 8259 has it and nothing else. `undefined` if the text is none. Never throws. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

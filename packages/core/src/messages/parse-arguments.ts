import { isObject } from '../base/plain-data.ts'

/** Result of {@link parseArguments}. */
export type ParsedArguments =
  | {
      /** The arguments. */
      readonly value: Record<string, unknown>
      readonly error?: undefined
    }
  | {
      /** Reason why the text is no JSON object. It quotes nothing. */
      readonly error: string
      readonly value?: undefined
    }

/**
 * Reads the arguments of a call. Blank text and `null` are an object without properties; what else
 * is not a JSON object is an error. A `__proto__` in the text is an own property like any other, as
 * `JSON.parse` makes it: copy it with a spread, never with `object[key] =`.
 */
export function parseArguments(text: string): ParsedArguments {
  try {
    const value: unknown = JSON.parse(text.trim() || '{}') ?? {}
    return isObject(value) ? { value } : { error: 'the arguments are not a JSON object' }
  } catch {
    // The parser's own message quotes the text.
    return { error: 'the arguments are not valid JSON' }
  }
}

import { jsonrepair } from 'jsonrepair'
import { mendJson } from './mend-json.ts'
import { parseJson } from './parse-json.ts'

/**
 * Returns the JSON text that a broken one was meant to be: quotes, commas and brackets that are missing, comments,
 * Python's constants. `undefined` where that would be a guess. Never throws.
 *
 * @param maxChars Length in UTF-16 units up to which `jsonrepair` reads the text. It understands most, but its time
 * grows with the square of the length; a simpler reader mends longer texts in one pass.
 * @example
 * ```ts
 * import { repairJson } from '@lamella/middleware-schema'
 *
 * console.log(repairJson("{a: 'b',}")) // {"a": "b"}
 * ```
 */
export function repairJson(text: string, maxChars = 4000): string | undefined {
  if (text.length > maxChars) {
    const mended = mendJson(text)
    return mended && JSON.stringify(mended.value)
  }
  try {
    const repaired = jsonrepair(text)
    return parseJson(repaired) && repaired
  } catch {
    // Not to be repaired, or nested too deep for the stack.
    return undefined
  }
}

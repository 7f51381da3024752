import { jsonrepair } from 'jsonrepair'
import { mendJson } from './mend-json.ts'
import { parseJson } from './parse-json.ts'

/**
 * Repairs broken JSON: adds missing quotes, commas and brackets, removes comments, converts Python's
 * constants. Returns `undefined` if the repair would be a guess. Never throws.
 *
 * @param maxChars Longest text in UTF-16 units that `jsonrepair` reads. It understands most mistakes, but
 * its time grows with the square of the length; a simpler, linear reader repairs longer texts.
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
    // Beyond repair, or nested too deep for the call stack.
    return undefined
  }
}

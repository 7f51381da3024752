import { jsonrepair } from 'jsonrepair'
import { parseJson } from './parse-json.ts'

/**
 * The JSON text that a broken one was meant to be, as `jsonrepair` understands it: quotes, commas and
 * brackets that are missing, comments, Python's constants. `undefined` where that would be a guess.
 * Never throws.
 */
export function repairJson(text: string): string | undefined {
  try {
    const repaired = jsonrepair(text)
    return parseJson(repaired) && repaired
  } catch {
    // Not to be repaired, or nested too deep for the stack.
    return undefined
  }
}

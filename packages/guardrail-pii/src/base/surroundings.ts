import { separators } from './separators.ts'

/** Number of characters before a candidate whose words count. */
const charsBefore = 40
const charsAfter = 32
const nextWord = new RegExp(`^[ \\t]{0,3}[^${separators}]*`)

/**
 * Returns the words around a range that may name it: some before it, and one behind it in the same line. No more,
 * so that the result does not depend on the length of a growing text.
 */
export function surroundings(text: string, start: number, end: number): string {
  const before = text.slice(Math.max(0, start - charsBefore), start)
  const after = nextWord.exec(text.slice(end, end + charsAfter))![0]
  return `${before} ${after}`
}

import { separators } from './separators.ts'

/** How far before a candidate words count. */
const charsBefore = 40
const charsAfter = 32
const nextWord = new RegExp(`^[ \\t]{0,3}[^${separators}]*`)

/**
 * The words around a stretch that may say what it is: some before, and one after it in the same line.
 * No more, so that it is the same however far a text has come.
 */
export function surroundings(text: string, start: number, end: number): string {
  const before = text.slice(Math.max(0, start - charsBefore), start)
  const after = nextWord.exec(text.slice(end, end + charsAfter))![0]
  return `${before} ${after}`
}

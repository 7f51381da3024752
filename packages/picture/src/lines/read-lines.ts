import type { Line } from './line.ts'

/** The lines of a recording, with how many could not be read. */
export interface ReadLines {
  readonly lines: readonly Line[]
  /** Lines that are no JSON, or of a version that this package does not know. */
  readonly unreadable: number
}

/**
 * Reads JSON lines. What is cut off, broken, or of an unknown version is counted and skipped, so that a
 * file opens wherever it ends.
 */
export function readLines(text: string): ReadLines {
  const lines: Line[] = []
  let unreadable = 0
  for (const json of text.split('\n')) {
    if (json.trim() === '') continue
    const line = parse(json)
    if (line === undefined) unreadable++
    else lines.push(line)
  }
  return { lines, unreadable }
}

function parse(json: string): Line | undefined {
  try {
    const line = JSON.parse(json) as Partial<Line> | null
    const isLine =
      typeof line === 'object' &&
      line !== null &&
      typeof line.k === 'string' &&
      typeof line.t === 'number' &&
      typeof line.r === 'number'
    if (!isLine) return undefined
    const isKnown = line.k !== 'run' || (line.v === 1 && Array.isArray(line.middleware?.chat))
    return isKnown ? (line as Line) : undefined
  } catch {
    return undefined
  }
}

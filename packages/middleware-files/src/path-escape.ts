import type { PathDialect, PathOddity } from '@lamella/text'
import { decodePath, isAbsolutePath, pathNames, pathOddity } from '@lamella/text'

/** Syntax of a path. */
export type Dialect = PathDialect

/** Reason for refusing a path by its spelling alone. */
export type PathFault = PathOddity | 'escape'

/**
 * Returns the fault of a path that leaves its folder in any of the dialects, unchanged or after up to
 * `decode` rounds of percent-decoding. Absolute paths are compared with the roots later.
 */
export function pathFault(
  path: string,
  dialects: readonly Dialect[],
  decode: number,
): PathFault | undefined {
  let text = path
  for (let round = 0; ; round++) {
    const oddity = pathOddity(text, dialects)
    if (oddity !== undefined) return oddity
    const readings = [text, text.replace(/\p{Cf}/gu, '')]
    const leaves = (dialect: Dialect): boolean =>
      readings.some((reading) => pathNames(reading, dialect) === undefined)
    if (dialects.some(leaves)) return 'escape'
    // A relative path that decodes to an absolute one.
    if (round > 0 && isAbsolutePath(text, dialects) && !isAbsolutePath(path, dialects)) {
      return 'escape'
    }
    if (round >= decode || !text.includes('%')) return undefined
    const decoded = decodePath(text)
    if (decoded === text) return undefined
    text = decoded
  }
}

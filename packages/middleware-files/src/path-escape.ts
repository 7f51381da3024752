import type { PathDialect, PathOddity } from '@lamella/core/authoring'
import { decodePath, isAbsolutePath, pathNames, pathOddity } from '@lamella/core/authoring'

/** How a path is read. */
export type Dialect = PathDialect

/** Why a path is refused, without looking at a disk. */
export type PathFault = PathOddity | 'escape'

/**
 * Whether a path leads out of the folder it is relative to, in any of the dialects, as it is written or
 * after up to `decode` rounds of percent-decoding. Absolute paths are judged by their folder, later.
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
    const reading = text
    if (dialects.some((dialect) => pathNames(reading, dialect) === undefined)) return 'escape'
    // A name that becomes a path of its own is no name.
    if (round > 0 && isAbsolutePath(text, dialects) && !isAbsolutePath(path, dialects)) {
      return 'escape'
    }
    if (round >= decode || !text.includes('%')) return undefined
    const decoded = decodePath(text)
    if (decoded === text) return undefined
    text = decoded
  }
}

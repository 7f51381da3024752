import { dirname, join } from 'node:path'
import { rooms } from './rooms.ts'

/** Files and the files of the same source root that each imports, types included. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>

/** Imports that lead from a folder to one above it or to an entry, and folders without a place in the order. */
export function upwardImports(graph: ImportGraph): string[] {
  const paths = [...graph.keys()]
  const unplaced = new Set(
    paths
      .filter((path) => floorOf(path) < 0)
      .map((path) => `${dirname(path)}: has no place in scripts/conventions/rooms.ts`),
  )
  const upward = [...graph].flatMap(([path, targets]) =>
    targets
      .filter((target) => floorOf(path) >= 0 && floorOf(target) > floorOf(path))
      .map((target) => `${path}: imports upward from ${target}`),
  )
  return [...unplaced, ...upward]
}

/** Resolves the relative imports of a file to paths of the repository. */
export function importedFiles(path: string, specifiers: readonly string[]): string[] {
  return specifiers
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => join(dirname(path), specifier))
}

/** Position of a file's folder in the order, infinite for an entry, -1 for a folder that has none. */
function floorOf(path: string): number {
  const [, root = '', folder] =
    /^(packages\/[^/]+\/src|scripts|tests)\/(?:(.+)\/)?[^/]+$/.exec(path) ?? []
  if (folder === undefined) return Infinity
  const floors = rooms[root] ?? []
  return floors.findIndex((room) => folder === room || folder.startsWith(`${room}/`))
}

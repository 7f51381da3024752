import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The text files of a repository, by path from its root. */
export type Tree = ReadonlyMap<string, string>

const notOurs = new Set([
  '.git',
  '.pages',
  '.turbo',
  '.vitest',
  '.snippets',
  'coverage',
  'dist',
  'node_modules',
  'package-lock.json',
])

/** This repository. */
export const repository: Tree = readTree('.')

function readTree(root: string): Map<string, string> {
  const tree = new Map<string, string>()
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (notOurs.has(entry.name)) continue
      if (entry.isDirectory()) walk(path)
      else if (entry.isFile()) tree.set(path, readFileSync(join(root, path), 'utf8'))
    }
  }
  walk('.')
  return tree
}

import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DocsFolder } from './docs-folder.ts'

/** Documents of this repository for its users: `docs`, and the README.md files outside of sources. */
export function ownDocs(): Promise<DocsFolder> {
  const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
  return DocsFolder.open(root, {
    includes: (path) => /^(?:(?!.*\/src\/).*\/)?README\.md$|^docs\/.*\.md$/u.test(path),
  })
}

// Copies `homepage`, `repository` and `bugs` of the root manifest into the manifest of every package.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const { homepage, repository, bugs } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

for (const folder of readdirSync(join(root, 'packages'))) {
  const file = join(root, 'packages', folder, 'package.json')
  const { name, version, description, keywords, ...rest } = JSON.parse(readFileSync(file, 'utf8'))
  const addresses = {
    homepage,
    repository: repository && { ...repository, directory: `packages/${folder}` },
    bugs,
  }
  const manifest = { name, version, description, keywords, ...addresses, ...rest, ...addresses }
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
}

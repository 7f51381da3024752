// Puts the templates into create-lamella as they are published: with the versions of the packages in the
// place of those of the workspace. Runs before it is packed.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'packages', 'create-lamella', 'templates')

rmSync(target, { recursive: true, force: true })
for (const kind of readdirSync(join(root, 'templates'))) {
  const own = join(target, kind)
  cpSync(join(root, 'templates', kind), own, {
    recursive: true,
    filter: (path) => !/\/(?:node_modules|dist|\.turbo)(?:\/|$)/.test(path.slice(root.length)),
  })
  const file = join(own, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  // An application stays private.
  if (manifest.publishConfig !== undefined) delete manifest.private
  delete manifest.exports?.['.']['@lamella/source']
  const { dependencies = {}, devDependencies, peerDependencies = {} } = manifest
  for (const list of [dependencies, devDependencies]) {
    for (const dependency of Object.keys(list)) {
      if (list[dependency] !== 'workspace:*') continue
      const folder = join(root, 'packages', dependency.replace('@lamella/', ''))
      const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      list[dependency] = `^${version}`
      if (dependency in peerDependencies) peerDependencies[dependency] = `^${version}`
    }
  }
  // Under another name: to tools, a manifest inside of a package is a package.
  rmSync(file)
  writeFileSync(join(own, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

// A minor release of core releases core, and nobody else.
import assert from 'node:assert/strict'
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export async function releaseCore(workshop) {
  const folder = join(workshop.folder, 'release')
  const files = globSync(
    [
      'package.json',
      'pnpm-workspace.yaml',
      'pnpm-lock.yaml',
      '.changeset/config.json',
      '{packages,examples,bench}/package.json',
      'packages/*/{package.json,CHANGELOG.md}',
    ],
    { cwd: workshop.root },
  )
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(workshop.root, file), join(folder, file))
  }
  symlinkSync(join(workshop.root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(
    join(folder, '.changeset', 'minor.md'),
    "---\n'@lamella/core': minor\n---\n\nA new export.\n",
  )
  const git = (...args) =>
    workshop.run('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
      cwd: folder,
    })
  await git('init', '-q')
  const before = versions(folder)
  await workshop.run(
    workshop.node,
    [join(workshop.root, 'node_modules/@changesets/cli/bin.js'), 'version'],
    { cwd: folder },
  )
  const after = versions(folder)

  const changed = Object.keys(after).filter((name) => after[name] !== before[name])
  assert.deepEqual(changed, ['@lamella/core'])
  const [major, minor] = before['@lamella/core'].split('.').map(Number)
  assert.equal(after['@lamella/core'], `${major}.${minor + 1}.0`)
  return `core ${before['@lamella/core']} to ${after['@lamella/core']}, and ${Object.keys(after).length - 1} others as they were`
}

function versions(folder) {
  const manifests = globSync('packages/*/package.json', { cwd: folder })
  return Object.fromEntries(
    manifests.map((file) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, file), 'utf8'))
      return [name, version]
    }),
  )
}

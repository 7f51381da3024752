// The tests of a package pass with the lowest core that its range allows. While that is the core of the
// workspace, as it was packed, one package's tests show that the way there works.
import assert from 'node:assert/strict'
import { join } from 'node:path'

export async function lowestPeer(workshop, packages) {
  const core = packages.find(({ name }) => name === '@lamella/core')
  const ranges = packages.flatMap(({ name, manifest }) => {
    const range = manifest.peerDependencies?.['@lamella/core']
    return range === undefined ? [] : [{ name, lowest: range.replace(/^\^/, '') }]
  })
  const isOwn = ({ lowest }) => lowest === core.manifest.version
  const sample = ranges.filter(isOwn).filter(({ name }) => name === '@lamella/middleware-budget')
  for (const { name, lowest } of [...ranges.filter((one) => !isOwn(one)), ...sample]) {
    const folder = workshop.app(`core-${lowest}`)
    await workshop.install(folder, `@lamella/core@${lowest}`)
    const output = await workshop.run(
      join(workshop.root, 'node_modules', '.bin', 'vitest'),
      ['run', `packages/${name.replace('@lamella/', '')}/`, '--reporter=dot'],
      {
        cwd: workshop.root,
        env: { LAMELLA_CORE: join(folder, 'node_modules', '@lamella', 'core') },
      },
    )
    assert.match(output, /Tests .*passed/)
  }
  return `${ranges.length} ranges, of which ${ranges.filter(isOwn).length} begin with the core of the workspace`
}

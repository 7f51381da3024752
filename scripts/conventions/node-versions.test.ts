import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { nodeProblems, type NodeNeeds } from './node-versions.ts'

interface Manifest {
  name: string
  engines?: { node?: string }
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

const manifestOf = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Manifest

function needsOf(path: string): NodeNeeds {
  const { name, engines, dependencies, peerDependencies } = manifestOf(path)
  const folder = dirname(path)
  const installed = Object.keys({ ...dependencies, ...peerDependencies }).map((dependency) => {
    const manifest = manifestOf(join(folder, 'node_modules', dependency, 'package.json'))
    return [dependency, manifest.engines?.node] as const
  })
  return {
    name,
    engines: engines?.node ?? '',
    readme: readFileSync(join(folder, 'README.md'), 'utf8'),
    dependencies: Object.fromEntries(installed),
  }
}

test('each package promises a Node that its dependencies run on, and its README says the same', () => {
  expect(
    globSync('packages/*/package.json')
      .map(needsOf)
      .flatMap((needs) => nodeProblems(needs)),
  ).toEqual([])
})

test('a README with another version, or none, and a dependency that needs a newer Node are found', () => {
  const good = {
    name: 'a',
    engines: '>=20.19.0',
    readme: 'ESM, Node 20.19 or newer.',
    dependencies: { b: '>= 20', c: undefined },
  }

  expect(nodeProblems(good)).toEqual([])
  expect(nodeProblems({ ...good, readme: 'ESM, Node 22.12 or newer.' })).toHaveLength(1)
  expect(nodeProblems({ ...good, readme: 'ESM.' })).toHaveLength(1)
  expect(nodeProblems({ ...good, dependencies: { b: '>=22' } })).toHaveLength(1)
  expect(nodeProblems({ ...good, engines: '' })).not.toEqual([])
})

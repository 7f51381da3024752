// Each package installs alone with core, brings exactly what it depends on, and its README's first
// snippet runs. Where the manifest promises Node 20, all that is installed promises it, too, each entry
// loads there unless it misses an optional peer, and so does the snippet unless it needs more than the package.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import semver from 'semver'
import { installed } from './workshop.mjs'

const oldest = '20.19.0'
const oldestNode = ['x64', 'arm64']
  .map((arch) => join(import.meta.dirname, 'node_modules', `node20-linux-${arch}`, 'bin', 'node'))
  .find((file) => existsSync(file))

export async function installAlone(workshop, packages, servers) {
  const waiting = [...packages]
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      await tryPackage(workshop, one, servers)
    }
  }
  await Promise.all([work(), work()])
  const old = packages.filter(runsOnOldest)
  const where = oldestNode ? `${old.length} of them also on Node ${oldest}` : 'no Node 20 here'
  return `${packages.length} packages, each with core alone, ${where}`
}

async function tryPackage(workshop, { name, manifest, source }, servers) {
  const snippet = firstSnippet(readFileSync(join(source, 'README.md'), 'utf8'))
  assert.ok(snippet, `the README of ${name} has no snippet`)
  const imported = [...snippet.matchAll(/from '((?:@[^/']+\/)?[^/']+)/g)].map(
    ([, specifier]) => specifier,
  )
  const core = manifest.peerDependencies?.['@lamella/core'] ? ['@lamella/core'] : []
  const wanted = new Set([...core, name, ...imported.filter((from) => !from.startsWith('node:'))])
  const folder = workshop.app(`alone-${name.replace('@lamella/', '')}`, { 'snippet.ts': snippet })
  await workshop.install(folder, ...wanted)

  const modules = installed(folder)
  const expected = closure([...wanted], modules)
  assert.deepEqual(
    modules.map((module) => module.name).filter((module) => !expected.has(module)),
    [],
    `${name} brought more than it depends on`,
  )
  const output = await workshop.program(folder, 'snippet.ts', servers)
  assert.notEqual(output.trim(), '', `the first snippet of ${name} printed nothing`)
  if (runsOnOldest({ manifest })) await tryOldest(workshop, { folder, manifest, modules, servers })
}

function runsOnOldest({ manifest }) {
  return semver.satisfies(oldest, manifest.engines.node)
}

async function tryOldest(workshop, { folder, manifest, modules, servers }) {
  const { name } = manifest
  const tooNew = modules
    .filter(({ engines }) => !semver.satisfies(oldest, engines?.node ?? '*'))
    .map((module) => module.name)
  const needed = closure([name], modules)
  assert.deepEqual(
    tooNew.filter((module) => needed.has(module)),
    [],
    `${name} promises Node ${oldest}, and what it installs does not`,
  )
  if (oldestNode === undefined) {
    assert.notEqual(process.env.CI, 'true', 'Node 20 is not installed')
    return
  }
  // Node 20 knows neither types nor `await using`.
  const snippet = readFileSync(join(folder, 'snippet.ts'), 'utf8')
  const { code } = transformSync(snippet, { loader: 'ts', target: `node${oldest}` })
  writeFileSync(join(folder, 'snippet.mjs'), code)
  const entries = Object.keys(manifest.exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry) => name + entry.slice(1))
  writeFileSync(join(folder, 'entries.mjs'), importAll(entries))
  // What only the snippet needs may be made for a newer Node.
  const files = ['entries.mjs', ...(tooNew.length === 0 ? ['snippet.mjs'] : [])]
  for (const file of files) {
    // oxlint-disable-next-line no-await-in-loop -- two packages are tried at a time, each step by step
    const output = await workshop.run(oldestNode, [file], { cwd: folder, env: servers })
    assert.notEqual(output.trim(), '', `${file} of ${name} printed nothing on Node ${oldest}`)
  }
}

/** A program that imports each entry; one may miss an optional peer, but nothing of Node. */
function importAll(entries) {
  return `
    for (const entry of ${JSON.stringify(entries)}) {
      await import(entry).catch((error) => {
        if (error.code !== 'ERR_MODULE_NOT_FOUND' || !/Cannot find package/.test(error.message)) throw error
        console.log(error.message)
      })
    }
    console.log('imported', process.version)
  `
}

/** The first block of TypeScript. */
function firstSnippet(markdown) {
  return /^```ts\n([\s\S]*?)^```/m.exec(markdown)?.[1]
}

/** What these packages need, and what that needs. */
function closure(names, modules) {
  const all = new Set()
  const visit = (name) => {
    if (all.has(name)) return
    all.add(name)
    for (const module of modules) if (module.name === name) module.dependencies.forEach(visit)
  }
  names.forEach(visit)
  return all
}

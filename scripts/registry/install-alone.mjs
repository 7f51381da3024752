// Each package installs alone with core, brings exactly what it depends on, and its README's first
// snippet runs.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installed } from './workshop.mjs'

export async function installAlone(workshop, packages, servers) {
  const waiting = [...packages]
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      await tryPackage(workshop, one, servers)
    }
  }
  await Promise.all([work(), work()])
  return `${packages.length} packages, each with core alone`
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
  const siblings = modules
    .map((module) => module.name)
    .filter((module) => module.startsWith('@lamella/'))
  const allowed = new Set([...wanted, ...Object.keys(manifest.dependencies ?? {})])
  assert.deepEqual(
    siblings.filter((sibling) => !allowed.has(sibling)),
    [],
  )

  const output = await workshop.program(folder, 'snippet.ts', servers)
  assert.notEqual(output.trim(), '', `the first snippet of ${name} printed nothing`)
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

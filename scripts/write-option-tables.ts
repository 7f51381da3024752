// Completes the tables of options in READMEs from the types: adds rows, corrects defaults, removes what is gone.
// usage: node scripts/write-option-tables.ts
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { sourcesOf } from './conventions/find-sources.ts'
import { declarations } from './conventions/option-fields.ts'
import { withOptions } from './conventions/option-tables.ts'

const packages = globSync('packages/*/README.md').map((path) => path.split('/')[1]!)
const sources = new Map(packages.map((name) => [name, sourcesOf(name)]))
const withCore = [...(sources.get('core') ?? []), ...[...sources.values()].flat()]

for (const path of [
  ...packages.map((name) => `packages/${name}/README.md`),
  'docs/guardrails.md',
]) {
  // A package may describe an option of another one, so its own types come first.
  const own = sources.get(path.split('/')[1] ?? '') ?? []
  const before = readFileSync(path, 'utf8')
  const after = withOptions(before, declarations([...own, ...withCore]))
  if (after === before) continue
  writeFileSync(path, after)
  console.log(path)
}

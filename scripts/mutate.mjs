// Breaks core in one small way at a time, in memory, and demands that a test fails.
// usage: node scripts/mutate.mjs [--every=n] [--tests=part-of-a-path,...] [--packages=openai,...] [file or folder of core's sources...]
// With --packages, tests of these packages count too.
import { globSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { instrument } from './mutation/instrument.mjs'
import { Executioner, survey } from './mutation/mutant-tests.mjs'

const args = process.argv.slice(2)
const option = (name) => args.find((one) => one.startsWith(`--${name}=`))?.split('=')[1]
const every = Number(option('every') ?? 1)
const filters = option('tests')?.split(',')
const packages = ['core', ...(option('packages')?.split(',') ?? [])]
const chosen = args.filter((one) => !one.startsWith('--'))

const core = resolve(import.meta.dirname, '../packages/core')
/** Mutants that may survive, with the reason. */
const argued = JSON.parse(readFileSync(`${import.meta.dirname}/mutation/argued.json`, 'utf8'))

const codes = new Map()
const mutants = []
for (const file of globSync('**/*.ts', { cwd: `${core}/src` }).toSorted()) {
  if (/\.test(-d|-helper)?\.ts$/.test(file)) continue
  if (chosen.length > 0 && !chosen.some((one) => file.startsWith(one))) continue
  const path = `${core}/src/${file}`
  const { code, mutants: own } = instrument(readFileSync(path, 'utf8'), mutants.length)
  codes.set(path, code)
  mutants.push(...own.map((mutant) => ({ ...mutant, file })))
}

if (mutants.length === 0) throw new Error(`no sources of core begin with ${chosen.join(' or ')}`)

const codeOf = (path) => codes.get(path)
const reaching = await survey(packages, codeOf, filters)
const executioner = new Executioner(packages, codeOf)

const sample = mutants.filter(({ id }) => id % every === 0)
const count = { killed: 0, argued: 0, survived: 0 }
let isWrong = false
for (const [at, { id, file, line, name }] of sample.entries()) {
  if (at % 50 === 0) console.error(`${at} of ${sample.length}: ${file}`)
  const folder = `${core}/src/${dirname(file)}`
  // oxlint-disable-next-line no-await-in-loop
  const isKilled = await executioner.kills(id, reaching.get(id) ?? new Map(), folder)
  const isArgued = argued[file]?.[name] !== undefined
  count[isKilled ? 'killed' : isArgued ? 'argued' : 'survived']++
  if (isKilled === isArgued)
    tell(isKilled ? 'argued, but killed' : 'survived', `${file}:${line}`, name)
}
await executioner.close()

for (const [file, reasons] of Object.entries(argued)) {
  if (!codes.has(`${core}/src/${file}`)) continue
  const names = new Set(mutants.filter((mutant) => mutant.file === file).map(({ name }) => name))
  for (const name of Object.keys(reasons))
    if (!names.has(name)) tell('argued, but gone', file, name)
}

const sampled = every === 1 ? '' : `, every ${every}th of ${mutants.length}`
console.log(`${sample.length} mutants in ${codes.size} files${sampled}:`, count)
process.exit(isWrong ? 1 : 0)

function tell(what, where, name) {
  isWrong = true
  console.log(`${what}: ${where}  ${name}`)
}

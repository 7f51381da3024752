// Fails when a run costs more than it did in the last release, whose figures are in regression.json. What a run does is
// counted, which no other program can disturb; its processor time is compared with a floor in the same process.
// usage: node bench/regression.mjs [--update] [--case=<part of a name>]
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { number, table } from './lib/format.mjs'

/** How many times what it was in the last release a figure may be. Counts repeat to the percent, times do not. */
const bands = { promises: 1.03, blocks: 1.03, bytes: 1.05, 'bytes kept': 1.5, 'times the floor': 3 }
/** What is no growth: tables that V8 extends now and then. */
const slack = { 'bytes kept': 500 }
const flags = ['--single-threaded', '--conditions=@lamella/source']
/** Without these, compiled code would leave allocations out, and collections would run in between. */
const countFlags = ['--no-opt', '--expose-gc', '--min-semi-space-size=256']
countFlags.push('--max-semi-space-size=256')

const { values } = parseArgs({
  options: { update: { type: 'boolean', default: false }, case: { type: 'string', default: '' } },
})
const file = new URL('regression.json', import.meta.url)
const released = JSON.parse(readFileSync(file, 'utf8'))

const counts = measured('count-work.mjs', ...countFlags)
const ratios = measured('time-work.mjs')
const now = Object.fromEntries(
  Object.entries(counts).map(([name, count]) => [
    name,
    { ...count, 'times the floor': Number(ratios[name].toPrecision(3)) },
  ]),
)
if (Object.keys(now).length === 0) fail(`no case has "${values.case}" in its name`)

const problems = []
const rows = Object.entries(now).map(([name, figures]) => [
  name,
  ...Object.entries(bands).map(([figure, band]) => {
    const before = released[name]?.[figure] ?? 0
    const isOver = !values.update && figures[figure] > before * band + (slack[figure] ?? 0)
    if (isOver) {
      problems.push(
        `${name}: ${number(figures[figure])} ${figure}, ${number(before)} in the last release`,
      )
    }
    return `${number(figures[figure])} (${number(before)})${isOver ? ' MORE' : ''}`
  }),
])
console.log(table(['now (in the last release)', ...Object.keys(bands)], rows))

if (values.update) {
  writeFileSync(file, `${JSON.stringify({ ...released, ...now }, null, 2)}\n`)
} else if (problems.length > 0) {
  fail(
    `${problems.join('\n')}\nWhat has to cost more is stored with: node bench/regression.mjs --update`,
  )
}

function measured(program, ...more) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, ...more, join(import.meta.dirname, 'lib', program), values.case],
    { encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } },
  )
  if (status !== 0) fail(`${program} ended with ${status}\n${stderr}`)
  return JSON.parse(stdout)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

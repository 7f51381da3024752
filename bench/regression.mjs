// Fails when a run costs more than the baseline in regression.json. What a run does is counted, which no other program
// can disturb.
// usage: node bench/regression.mjs [--release | --decision=<record>] [--case=<part of a name>]
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { isMoving, moveBaseline, readBaseline } from '../scripts/baseline.mjs'
import { number, table } from './lib/format.mjs'

/** How many times its baseline a figure may be: counts repeat to the percent. */
const bands = { promises: 1.03, blocks: 1.03, bytes: 1.05, 'bytes kept': 1.5 }
/** What is no growth: tables that V8 extends now and then. */
const slack = { 'bytes kept': 500 }
const flags = ['--single-threaded', '--conditions=@lamella/source']
/** Without these, compiled code would leave allocations out, and collections would run in between. */
const countFlags = ['--no-opt', '--expose-gc', '--min-semi-space-size=256']
countFlags.push('--max-semi-space-size=256')

const filter =
  process.argv.find((flag) => flag.startsWith('--case='))?.slice('--case='.length) ?? ''
const file = new URL('regression.json', import.meta.url)
const baseline = readBaseline(file)
const now = measured('count-work.mjs', ...countFlags)
if (Object.keys(now).length === 0) fail(`no case has "${filter}" in its name`)

const problems = []
const rows = Object.entries(now).map(([name, figures]) => [
  name,
  ...Object.entries(bands).map(([figure, band]) => {
    const before = baseline[name]?.[figure] ?? 0
    const isOver = !isMoving() && figures[figure] > before * band + (slack[figure] ?? 0)
    if (isOver)
      problems.push(`${name}: ${number(figures[figure])} ${figure}, baseline ${number(before)}`)
    return `${number(figures[figure])} (${number(before)})${isOver ? ' MORE' : ''}`
  }),
])
console.log(table(['now (baseline)', ...Object.keys(bands)], rows))
moveBaseline(file, { ...(filter === '' ? {} : baseline), ...now })
if (problems.length > 0)
  fail(
    `${problems.join('\n')}\nMake it cheaper, or record why not: see docs/decisions/0024-fixed-baselines.md`,
  )

function measured(program, ...more) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, ...more, join(import.meta.dirname, 'lib', program), filter],
    { encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } },
  )
  if (status !== 0) fail(`${program} ended with ${status}\n${stderr}`)
  return JSON.parse(stdout)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

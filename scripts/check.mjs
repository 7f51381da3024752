// Runs every check of CI, two at a time and the soak beside them, says how far it is, and prints the output of what fails.
// usage: node scripts/check.mjs [--except=<step>[,<step>]] [step...]
import { spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'

const steps = {
  // The longest first, so that none of them is alone at the end.
  long: ['node', 'scripts/dev.mjs', 'long'],
  test: ['vitest', 'run'],
  runtimes: ['node', 'scripts/dev.mjs', 'runtimes'],
  build: ['turbo', 'run', 'build'],
  registry: ['node', 'scripts/dev.mjs', 'registry'],
  docs: ['node', 'site/docs.mjs', '--test'],
  examples: ['node', 'scripts/run-examples.mjs'],
  types: ['tsc', '-p', 'tsconfig.json'],
  lint: ['oxlint', '--type-aware', '--deny-warnings'],
  format: ['biome', 'format', '--colors=off'],
  packages: ['turbo', 'run', 'pkgcheck'],
  api: ['node', 'scripts/api-report.mjs'],
  typecost: ['node', 'scripts/type-cost.mjs'],
  unused: ['knip', '--no-config-hints'],
  size: ['node', 'scripts/size.mjs'],
  regression: ['node', 'bench/regression.mjs'],
  core: [
    'node',
    '--conditions=@lamella/source',
    '--disable-warning=ExperimentalWarning',
    'scripts/core-measure.mjs',
  ],
  eval: ['node', 'scripts/dev.mjs', 'eval'],
  soak: ['node', 'scripts/dev.mjs', 'soak', '--seconds=120', '--pause=250'],
  snippets: ['node', 'scripts/check-snippets.ts'],
  peers: ['node', 'scripts/dev.mjs', 'peers'],
}

const args = process.argv.slice(2)
const except = args.flatMap((arg) =>
  arg.startsWith('--except=') ? arg.slice('--except='.length).split(',') : [],
)
const only = args.filter((arg) => !arg.startsWith('--except='))
const unknown = [...except, ...only].filter((step) => !Object.hasOwn(steps, step))
if (unknown.length > 0) {
  console.error(`unknown step ${unknown.join(', ')}, expected: ${Object.keys(steps).join(', ')}`)
  process.exit(1)
}

const chosen = (only.length > 0 ? only : Object.keys(steps)).filter(
  (name) => !except.includes(name),
)
// These steps read the built packages.
const reading = new Set(['lint', 'packages', 'api', 'registry', 'typecost', 'size', 'examples'])
const isBuilding = !except.includes('build') && chosen.some((name) => reading.has(name))
const first = isBuilding || chosen.includes('build') ? ['build'] : []
// Steps that pack the packages write into them, so they run one after the other.
const packing = new Set(['packages', 'registry'])
const count = new Set([...first, ...chosen]).size
const report = []
const running = new Map()
const progress = setInterval(tellProgress, 30_000)
for (const step of first) await run(step)
const waiting = chosen.filter((name) => name !== 'build')
// The soak waits more than it computes, so it runs beside two other steps.
const beside = waiting.includes('soak') ? waiting.splice(waiting.indexOf('soak'), 1) : []
let isPacking = false
await Promise.all([work(), work(), ...beside.map(run)])

clearInterval(progress)

const failed = report.filter(({ passed }) => !passed)
for (const { step, output } of failed) {
  console.log(`\n== the end of ${step}, which failed\n${output.split('\n').slice(-40).join('\n')}`)
}
console.log('')
for (const { step, passed, seconds } of report) {
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${step.padEnd(10)} ${seconds.toFixed(1)} s`)
}
process.exit(failed.length === 0 ? 0 : 1)

/** Prints what the running steps have written last. */
function tellProgress() {
  for (const [step, { start, output }] of running) {
    const minutes = ((performance.now() - start) / 60_000).toFixed(1)
    const [last = ''] = stripVTControlCharacters(output).trimEnd().split('\n').slice(-1)
    console.log(`       ${step}, after ${minutes} minutes: ${last.trim().slice(0, 100)}`)
  }
}

/** Runs waiting steps until none is left that may run now. */
async function work() {
  for (;;) {
    const next = waiting.findIndex((name) => !(isPacking && packing.has(name)))
    if (next < 0) return
    const [step] = waiting.splice(next, 1)
    if (packing.has(step)) isPacking = true
    await run(step)
    if (packing.has(step)) isPacking = false
  }
}

/** Runs a step. Its output is kept for the end, so that two outputs do not mix. */
async function run(step) {
  const [command, ...options] = steps[step]
  const state = { start: performance.now(), output: '' }
  running.set(step, state)
  const child = spawn(command, options, { stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (state.output += text))
  }
  const passed = await new Promise((resolve) => {
    child.on('error', (error) => {
      state.output += error.message
      resolve(false)
    })
    child.on('close', (code) => resolve(code === 0))
  })
  running.delete(step)
  const seconds = (performance.now() - state.start) / 1000
  report.push({ step, passed, output: state.output, seconds })
  const done = `${passed ? 'ok    ' : 'FAILED'} ${step}, ${seconds.toFixed(0)} s`
  console.log(`${done}; ${report.length} of ${count} steps`)
}

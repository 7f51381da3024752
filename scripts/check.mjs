// Runs every check that CI holds, two side by side, and says at the end which of them failed, and why.
// usage: node scripts/check.mjs [--except=<step>[,<step>]] [step...]
import { spawn } from 'node:child_process'

const steps = {
  test: ['vitest', 'run'],
  runtimes: ['node', 'scripts/dev.mjs', 'runtimes'],
  // Templates read the types of what was built.
  build: ['turbo', 'run', 'build'],
  types: ['tsc', '-p', 'tsconfig.json'],
  lint: ['oxlint', '--type-aware', '--deny-warnings'],
  format: ['biome', 'format', '--colors=off'],
  packages: ['turbo', 'run', 'pkgcheck'],
  api: ['node', 'scripts/api-report.mjs'],
  registry: ['node', 'scripts/dev.mjs', 'registry'],
  typecost: ['node', 'scripts/type-cost.mjs'],
  unused: ['knip', '--no-config-hints'],
  size: ['node', 'scripts/size.mjs'],
  eval: ['node', '--conditions=@lamella/source', 'scripts/eval.ts'],
  examples: ['node', 'scripts/run-examples.mjs'],
  snippets: ['node', 'scripts/check-snippets.ts'],
  docs: ['node', 'site/docs.mjs', '--test'],
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
// What is built comes first. Steps that pack the packages write into them: they run one after the other.
const first = chosen.filter((name) => name === 'build')
const packing = new Set(['packages', 'registry'])
const report = []
await inTurn(first)
await Promise.all([
  inTurn(chosen.filter((name) => packing.has(name))),
  inTurn(chosen.filter((name) => !packing.has(name) && !first.includes(name))),
])

const failed = report.filter(({ passed }) => !passed)
for (const { step, output } of failed) {
  console.log(`\n== the end of ${step}, which failed\n${output.split('\n').slice(-40).join('\n')}`)
}
console.log('')
for (const { step, passed, seconds } of report) {
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${step.padEnd(9)} ${seconds.toFixed(1)} s`)
}
process.exit(failed.length === 0 ? 0 : 1)

async function inTurn(names) {
  for (const step of names) await run(step)
}

/** Runs a step and prints what it printed when it is done, so that two do not mix. */
async function run(step) {
  const [command, ...options] = steps[step]
  const start = performance.now()
  const child = spawn(command, options, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  }
  const passed = await new Promise((resolve) => {
    child.on('error', (error) => {
      output += error.message
      resolve(false)
    })
    child.on('close', (code) => resolve(code === 0))
  })
  console.log(`\n== ${step}: ${steps[step].join(' ')}\n${output}`)
  report.push({ step, passed, output, seconds: (performance.now() - start) / 1000 })
}

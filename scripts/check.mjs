// Runs every check that CI holds, and says at the end which of them failed.
// usage: node scripts/check.mjs [--except=<step>[,<step>]] [step...]
import { spawnSync } from 'node:child_process'

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
  (step) => !except.includes(step),
)
const report = chosen.map((step) => {
  const [command, ...options] = steps[step]
  console.log(`\n== ${step}: ${steps[step].join(' ')}`)
  const start = performance.now()
  const { status } = spawnSync(command, options, { stdio: ['ignore', 'inherit', 'inherit'] })
  return { step, passed: status === 0, seconds: (performance.now() - start) / 1000 }
})

console.log('')
for (const { step, passed, seconds } of report) {
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${step.padEnd(9)} ${seconds.toFixed(1)} s`)
}
process.exit(report.every(({ passed }) => passed) ? 0 : 1)

// Runs the tests of core and of the packages that run wherever it does, without Node's, on every runtime they are made
// for, and compares each with Node.
// Runs the examples that are made for a runtime on it.
// usage: node scripts/dev.mjs runtimes [runtime...]
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { bundleTests } from './runtimes/bundle.mjs'
import { findChromium, runPage } from './runtimes/chromium.mjs'
import { runExamples } from './runtimes/run-examples.mjs'
import { runProgram } from './runtimes/run-program.mjs'

/** For a runtime that hangs: on a busy machine, all tests take several minutes. */
const timeoutMs = 900_000
const onCi = process.env.CI === 'true'
const folder = mkdtempSync(join(tmpdir(), 'lamella-runtimes-'))

const denoFlags = ['--no-prompt', '--no-remote', '--no-npm', '--no-config', '--no-lock']
const runtimes = [
  {
    name: 'node',
    agent: 'Node.js/',
    command: process.execPath,
    args: ['program.mjs'],
  },
  {
    name: 'node20', // the oldest that core promises
    agent: 'Node.js/20',
    command: installed('node20-linux-x64/bin/node', 'node20-linux-arm64/bin/node'),
    args: ['program.mjs'],
  },
  {
    name: 'node22', // the oldest that packages promise whose dependencies need it
    agent: 'Node.js/22',
    command: installed('node22-linux-x64/bin/node', 'node22-linux-arm64/bin/node'),
    args: ['program.mjs'],
  },
  {
    name: 'bun',
    agent: 'Bun/',
    command: installed('@oven/bun-linux-x64/bin/bun', '@oven/bun-linux-aarch64/bin/bun'),
    args: ['--no-install', 'program.mjs'],
  },
  {
    name: 'deno', // with no permission at all
    agent: 'Deno/',
    command: installed('@deno/linux-x64-glibc/deno', '@deno/linux-arm64-glibc/deno'),
    args: ['run', ...denoFlags, 'program.mjs'],
    env: { DENO_DIR: join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1' },
  },
  {
    name: 'workerd',
    agent: 'Cloudflare-Workers',
    command: installed(
      '@cloudflare/workerd-linux-64/bin/workerd',
      '@cloudflare/workerd-linux-arm64/bin/workerd',
    ),
    args: ['test', 'worker.capnp'],
  },
  {
    name: 'chromium',
    agent: 'Chrome/',
    command: findChromium({ install: onCi && process.getuid?.() === 0 }),
  },
]

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => runtimes.every((runtime) => runtime.name !== name))
if (unknown.length > 0) {
  const names = runtimes.map(({ name }) => name)
  console.error(`unknown runtime ${unknown.join(', ')}, expected: ${names.join(', ')}`)
  process.exit(1)
}

const files = await bundleTests(join(folder, 'suite.mjs')).catch(() => process.exit(1)) // esbuild has said why
cpSync(join(import.meta.dirname, 'runtimes', 'host'), folder, { recursive: true })
console.log(`${files.length} test files, bundled; on each runtime: passed, failed, skipped`)

const [node, ...others] = runtimes
const onNode = await runOn(node)
let failed = !onNode.passed
for (const runtime of others) {
  if (chosen.length > 0 && !chosen.includes(runtime.name)) continue
  const result = await runOn(runtime, onNode.tests)
  failed ||= !result.passed
  if (runtime.command) failed = !(await runExamples(runtime, { folder, timeoutMs })) || failed
}
if (failed) console.log(`what ran is in ${folder}`)
else rmSync(folder, { recursive: true })
process.exit(failed ? 1 : 0)

/** Runs the bundle once. What ran on Node, where given, is exactly what must run here. */
async function runOn(runtime, testsOnNode) {
  if (!runtime.command) {
    console.log(`${onCi ? 'FAILED' : 'SKIPPED'} ${runtime.name}: not installed on this machine`)
    return { passed: !onCi }
  }
  const version = await runProgram(runtime.command, ['--version'], { timeoutMs })
  const start = performance.now()
  const { code, output, errors } = runtime.args
    ? await runProgram(runtime.command, runtime.args, { cwd: folder, env: runtime.env, timeoutMs })
    : await runPage(runtime.command, { folder, timeoutMs })
  const seconds = ((performance.now() - start) / 1000).toFixed(1)

  const report = reportIn(output)
  const { agent = '', tests = [], unhandled = [] } = report
  const problems =
    namesOf(tests, 'ran').length === 0
      ? [`no test ran in ${seconds} s, ended with ${code}: ${report.error ?? output + errors}`]
      : [
          ...(code === 0 ? [] : [`ended with ${code}: ${errors}`]),
          ...(agent.includes(runtime.agent) ? [] : [`ran on ${agent}, not on ${runtime.agent}`]),
          ...(testsOnNode ? differences(testsOnNode, tests) : []),
          ...failures(tests, testsOnNode),
          ...unhandled.map((text) => `unhandled rejection: ${text}`),
        ]

  const passed = problems.length === 0
  const counts = ['passed', 'failed', 'skipped'].map(
    (state) => `${namesOf(tests, state).length} ${state}`,
  )
  const outcome = `${passed ? 'ok    ' : 'FAILED'} ${runtime.name.padEnd(8)} ${counts.join(', ')}`
  console.log(`${outcome}  ${seconds} s  ${version.output.split('\n')[0]}`)
  for (const name of namesOf(tests, 'skipped')) console.log(`  skipped: ${name}`)
  for (const problem of problems) {
    console.log(stripVTControlCharacters(problem).replaceAll(/^/gm, '  '))
  }
  return { passed, tests }
}

/** The report is the one line of JSON among whatever else the tests print. */
function reportIn(output) {
  const line = output.split('\n').findLast((text) => /^\{"(agent|error)":/.test(text))
  return line ? JSON.parse(line) : {}
}

function namesOf(tests, wanted) {
  return tests
    .filter(({ state }) => (wanted === 'ran' ? state !== 'skipped' : state === wanted))
    .map(({ name }) => name)
}

function differences(testsOnNode, tests) {
  const expected = namesOf(testsOnNode, 'ran')
  const ran = namesOf(tests, 'ran')
  const missing = expected.filter((name) => !ran.includes(name))
  if (missing.length === 0 && ran.length === expected.length) return []
  const listed = missing.slice(0, 20).map((name) => `\n- ${name}`)
  return [
    `${ran.length} tests ran, on Node ${expected.length}; missing here: ${missing.length}${listed.join('')}`,
  ]
}

function failures(tests, testsOnNode = []) {
  const failedOnNode = namesOf(testsOnNode, 'failed')
  return tests
    .filter(({ state }) => state === 'failed')
    .map(({ name, errors }) =>
      failedOnNode.includes(name) ? `${name}, as on Node` : `${name}\n${errors.join('\n')}`,
    )
}

function installed(x64, arm64) {
  if (process.platform !== 'linux') return undefined
  const path = { x64, arm64 }[process.arch]
  const file = path && join(import.meta.dirname, 'runtimes', 'node_modules', path)
  return file && existsSync(file) ? file : undefined
}

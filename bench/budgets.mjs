// Measures what users feel: the import and the bundle of an application with an OpenAI model, the processor time and
// the memory of its streamed answers, a thousand runs at once, long runs, long histories, all the recommended
// middlewares together, and the memory of a long stream. Other frameworks stand beside, and are installed when they are
// missing.
// usage: npm run budgets [-- --rounds=9] [--only=import,bundle,socket,runs,stack,memory]
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { applications } from './applications.mjs'
import { measureMemory } from './lib/measure-memory.mjs'
import { paired } from './lib/paired.mjs'
import { median } from './lib/statistics.mjs'
import { longStream } from './scenarios.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    only: { type: 'string', default: 'import,bundle,socket,runs,stack,memory' },
  },
})
const only = values.only.split(',')
const all = Number(values.rounds)
const fewer = Math.min(5, all)
/** Of what takes minutes. */
const fewest = Math.min(3, all)
const loadBefore = loadavg()[0]
const here = import.meta.dirname
const env = { ...process.env, NODE_ENV: 'production', MASTRA_TELEMETRY_DISABLED: '1' }

for (const { folder } of applications) {
  const place = join(here, folder)
  if (!folder.startsWith('peers/') || existsSync(join(place, 'node_modules'))) continue
  process.stderr.write(`Installing ${folder} ...\n`)
  command(
    'npm',
    ['install', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'],
    place,
  )
}

if (only.includes('import')) {
  const nothing = { name: 'nothing', folder: '.', entries: [] }
  const jobs = [nothing, ...applications.filter((job) => 'entries' in job)]
  const spent = `const { user, system } = process.cpuUsage()
    process.stdout.write(String((user + system) / 1000)); process.exit(0)`
  const rounds = paired('import', jobs, all, (job) => {
    const start = performance.now()
    const processor = Number(evaluate(job, `${imports(job)} ${spent}`))
    return { clock: performance.now() - start, processor }
  })
  const over = (job, time) =>
    median(rounds.map((round) => round.get(job)[time] - round.get(nothing)[time])).toFixed(1)
  const columns = ['ms of processor time over an empty process', 'ms by the clock', 'modules']
  print('import', columns, jobs.slice(1), (job) => [
    over(job, 'processor'),
    over(job, 'clock'),
    evaluate(
      job,
      `const { registerHooks } = await import('node:module'); let modules = 0
      registerHooks({ load: (url, context, next) => (modules++, next(url, context)) })
      ${imports(job)} process.stdout.write(String(modules)); process.exit(0)`,
    ),
  ])
}

if (only.includes('bundle')) {
  const jobs = applications.filter((job) => 'source' in job)
  const sizes = new Map()
  for (const job of jobs) {
    const { outputFiles } = await build({
      stdin: { contents: job.source, resolveDir: join(here, job.folder) },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'node',
      target: 'es2023',
      logLevel: 'error',
    })
    sizes.set(job, gzipSync(outputFiles[0].contents, { level: 9 }).length)
  }
  print('bundle of the application', ['kB, gzipped'], jobs, (job) => [
    (sizes.get(job) / 1000).toFixed(1),
  ])
}

if (only.includes('socket')) {
  const server = spawn(process.execPath, [join(here, 'lib', 'stream-server.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise((resolve) =>
    server.stdout.once('data', (data) => resolve(`${data}`.trim())),
  )
  try {
    const jobs = applications.filter((job) => 'stream' in job)
    const rounds = paired('socket', jobs, fewer, (job) =>
      measured('stream-client.mjs', job.name, url),
    )
    const floor = jobs.find(({ name }) => name === 'fetch by hand')
    print(
      'streamed answer of 300 chunks over a socket',
      ['ms of processor time', 'over fetch', 'MB of memory at most'],
      jobs,
      (job) => [
        median(rounds.map((round) => round.get(job).ms)).toFixed(2),
        `${median(rounds.map((round) => round.get(job).ms / round.get(floor).ms)).toFixed(2)}x`,
        median(rounds.map((round) => round.get(job).maxRssMB)).toFixed(0),
      ],
    )
  } finally {
    server.kill()
  }
}
if (only.includes('runs')) {
  const peers = [
    { name: 'a loop by hand', file: join('adapters', 'bare.mjs') },
    { name: '@lamella/core', file: join('adapters', 'lamella.mjs') },
    { name: 'ai', file: join('peers', 'ai', 'adapter.mjs') },
    { name: 'langchain', file: join('peers', 'langchain', 'adapter.mjs') },
    { name: '@openai/agents', file: join('peers', 'openai-agents', 'adapter.mjs') },
    { name: '@mastra/core/agent', file: join('peers', 'mastra', 'adapter.mjs') },
  ]
  const columns = [
    { title: 'µs of processor time', atATime: 1, toolRounds: 1 },
    { title: 'each of 1,000 at once', atATime: 1000, toolRounds: 1 },
    { title: 'a round of ten', atATime: 1, toolRounds: 10 },
    { title: 'a round of a hundred', atATime: 1, toolRounds: 100 },
  ].map(({ title, atATime, toolRounds }) => {
    const rounds = paired(`runs, ${title}`, peers, fewest, ({ file }) =>
      measured('agent-runs.mjs', join(here, file), atATime, toolRounds),
    )
    const cell = (peer) => median(rounds.map((round) => round.get(peer))) / toolRounds
    return { title, cell }
  })
  const titles = columns.map(({ title }) => title)
  print('run with one tool round, and of more', titles, peers, (peer) =>
    columns.map(({ cell }) => cell(peer).toFixed(1)),
  )

  const waiting = [
    { name: 'a loop by hand', way: 'hand' },
    { name: '@lamella/core', way: 'lamella' },
  ]
  const turns = paired('waiting', waiting, fewer, ({ way }) => measured('waiting-runs.mjs', way))
  const [floor] = waiting
  print(
    '1,000 runs at once, with a model of 20 ms',
    ['ms by the clock', 'over the loop', 'ms of processor time'],
    waiting,
    (job) => [
      median(turns.map((turn) => turn.get(job).clock)).toFixed(1),
      `${median(turns.map((turn) => turn.get(job).clock / turn.get(floor).clock)).toFixed(2)}x`,
      median(turns.map((turn) => turn.get(job).processor)).toFixed(1),
    ],
  )
}

if (only.includes('stack')) {
  const jobs = [
    { name: 'a bare agent', what: 'bare' },
    { name: 'the recommended middleware', what: 'stack' },
    { name: 'a bare agent, 100 messages of history', what: '100' },
    { name: 'a bare agent, 1,000 messages of history', what: '1000' },
  ]
  const rounds = paired('stack', jobs, fewer, ({ what }) => measured('stack-runs.mjs', what))
  print('run with one model call', ['µs of processor time', 'a streamed word'], jobs, (job) => [
    median(rounds.map((round) => round.get(job).perRun)).toFixed(1),
    median(rounds.map((round) => round.get(job).perWord)).toFixed(2),
  ])
}

if (only.includes('memory')) {
  const say = (line) => process.stderr.write(`memory: ${line}\n`)
  const { text } = await measureMemory(['bare', 'lamella-agent', 'ai'], longStream, say)
  console.log(`\n${text}`)
}

const loads = [loadBefore, loadavg()[0]].map((load) => load.toFixed(1))
console.log(
  `\nNode ${process.versions.node}, ${availableParallelism()} cores, load ${loads.join(' before, ')} after`,
)

function imports({ entries }) {
  return entries.map((entry) => `await import('${entry}');`).join(' ')
}

function evaluate({ folder }, code) {
  return command(process.execPath, ['--input-type=module', '-e', code], join(here, folder))
}

/** The figures that a program of `lib` prints. */
function measured(program, ...args) {
  return JSON.parse(
    command(process.execPath, [join(here, 'lib', program), ...args.map(String)], here),
  )
}

function command(program, args, cwd) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} in ${cwd} ended with ${status}\n${stderr}`)
  return stdout
}

function print(title, columns, jobs, cells) {
  console.log(
    `\n| ${[title, ...columns].join(' | ')} |\n| --- |${' ---: |'.repeat(columns.length)}`,
  )
  for (const job of jobs) console.log(`| ${[job.name, ...cells(job)].join(' | ')} |`)
}

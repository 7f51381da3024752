// Measures what users feel of an application with an OpenAI model: its import, its bundle, and the processor time
// of a streamed answer, beside the same application on other frameworks, which it installs when they are missing.
// usage: npm run budgets [-- --rounds=9] [--only=import,bundle,socket]
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { applications } from './applications.mjs'
import { median, paired } from './lib/paired.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    only: { type: 'string', default: 'import,bundle,socket' },
  },
})
const only = values.only.split(',')
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
  const rounds = paired(jobs, Number(values.rounds), (job) => {
    const start = performance.now()
    evaluate(job, `${imports(job)} process.exit(0)`)
    return performance.now() - start
  })
  print('import', ['milliseconds over an empty process', 'modules'], jobs.slice(1), (job) => [
    median(rounds.map((round) => round.get(job) - round.get(nothing))).toFixed(1),
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
    const rounds = paired(jobs, Math.min(5, Number(values.rounds)), (job) =>
      Number(
        command(process.execPath, [join(here, 'lib', 'stream-client.mjs'), job.name, url], here),
      ),
    )
    const floor = jobs.find(({ name }) => name === 'fetch by hand')
    print(
      'streamed answer of 300 chunks over a socket',
      ['ms of processor time', 'over fetch'],
      jobs,
      (job) => [
        median(rounds.map((round) => round.get(job))).toFixed(2),
        `${median(rounds.map((round) => round.get(job) / round.get(floor))).toFixed(2)}x`,
      ],
    )
  } finally {
    server.kill()
  }
}
console.log(
  `\nNode ${process.versions.node}, ${availableParallelism()} cores, load at the end ${loadavg()[0].toFixed(1)}`,
)

function imports({ entries }) {
  return entries.map((entry) => `await import('${entry}');`).join(' ')
}

function evaluate({ folder }, code) {
  return command(process.execPath, ['--input-type=module', '-e', code], join(here, folder))
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

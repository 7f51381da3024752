// Sets the toolchain up from a bare Node and npm, then runs one task.
// usage: node scripts/dev.mjs <task> [args...]
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = join(root, 'node_modules', '.bin')
const stamp = join(root, 'node_modules', '.lamella-installed')
const npmState = join(root, 'node_modules', '.package-lock.json')
const windows = process.platform === 'win32'

const soak = [
  '--expose-gc',
  // Compiled code would come and go, and the heap with it.
  '--no-flush-bytecode',
  '--conditions=@lamella/source',
  '--disable-warning=ExperimentalWarning',
  'scripts/soak.ts',
]

const quiet = ['--conditions=@lamella/source', '--disable-warning=ExperimentalWarning']
const coreMeasure = [...quiet, 'scripts/core-measure.mjs']

const tasks = {
  install: () => install(args),
  start: () => script('examples/docs-assistant.ts', '--conditions=@lamella/source'),
  demo: () => script('examples/chat-demo.ts', '--conditions=@lamella/source'),
  'demo-use-chat': () => script('examples/use-chat/server.ts', '--conditions=@lamella/source'),
  test: () => run('vitest', ['run', ...args]),
  long: () => {
    env.LAMELLA_TESTS = 'long'
    return run('vitest', ['run', ...args])
  },
  check: () => runWithPnpm('node', ['scripts/check.mjs', ...args]),
  bench: () => script('bench/run.mjs'),
  budgets: async () => {
    await runWithPnpm('turbo', ['run', 'build'])
    await script('bench/budgets.mjs')
  },
  size: async () => {
    await runWithPnpm('turbo', ['run', 'build'])
    await script('scripts/size.mjs')
  },
  soak: () => run('node', [...soak, ...args]),
  eval: () =>
    run('node', [
      ...quiet,
      'packages/evals/src/bin.ts',
      ...(args.length > 0 ? args : evaluations()),
    ]),
  runtimes: async () => {
    // Half a gigabyte that no other task needs: a folder with a lockfile of its own, outside the workspace.
    await pnpmInstall(['--dir=scripts/runtimes', '--ignore-workspace', '--frozen-lockfile'])
    await script('scripts/runtimes.mjs')
  },
  peers: async () => {
    await pnpmInstall(['--dir=scripts/peers', '--ignore-workspace', '--frozen-lockfile'])
    await script('scripts/peers.ts', '--conditions=@lamella/source')
  },
  registry: async () => {
    // Apart, as the runtimes are.
    await pnpmInstall(['--dir=scripts/registry', '--frozen-lockfile'])
    await runWithPnpm('turbo', ['run', 'build'])
    await runWithPnpm('node', ['scripts/registry.mjs', ...args])
  },
  api: async () => {
    await runWithPnpm('turbo', ['run', 'build'])
    await run('node', ['scripts/api-report.mjs', ...args])
  },
  docs: () => script('site/docs.mjs'),
  lint: () => runWithPnpm('node', ['scripts/check.mjs', 'lint', 'format']),
  fix: () => runWithPnpm('node', ['scripts/fix.mjs']),
  format: () => run('biome', ['format', '--write', '--colors=off', ...args]),
  changeset: () => run('changeset', args),
  version: async () => {
    await run('changeset', ['version'])
    await runWithPnpm('turbo', ['run', 'build'])
    await run('node', ['scripts/api-report.mjs', '--update', '--release'])
    await run('node', ['scripts/size.mjs', '--release'])
    await run('node', ['bench/regression.mjs', '--release'])
    await run('node', [...coreMeasure, '--release'])
    await runWithPnpm('pnpm', ['install', '--lockfile-only'])
  },
  release: async () => {
    await runWithPnpm('node', ['scripts/check.mjs'])
    await run('node', [...soak, '--seconds=1200'])
    // Provenance, on a CI server that can prove its identity.
    if (env.ACTIONS_ID_TOKEN_REQUEST_URL) env.NPM_CONFIG_PROVENANCE ??= 'true'
    await runWithPnpm('changeset', ['pack', '--out-dir=.packed'])
    await run('node', ['scripts/packed-documents.ts', '.packed'])
    await runWithPnpm('changeset', ['publish', '--from-pack-dir=.packed'])
  },
}

const [task = '', ...args] = process.argv.slice(2)
requireNode(20, 19, 'to set up the toolchain')
if (!Object.hasOwn(tasks, task)) {
  fail(`unknown task "${task}", expected one of: ${Object.keys(tasks).join(', ')}`)
}

const env = {
  ...process.env,
  PATH: `${bin}${delimiter}${process.env.PATH}`,
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
}
for (const name of Object.keys(env)) {
  if (/^npm_(package|lifecycle)_/i.test(name)) delete env[name]
}

if (task !== 'install' && !isInstalled()) await install(['--frozen-lockfile'])
await tasks[task]()

/** Folders with evaluations: those of the guardrails, and the docs assistant. */
function evaluations() {
  const guardrails = readdirSync(join(root, 'packages'))
    .map((name) => `packages/${name}/eval`)
    .filter((folder) => existsSync(join(root, folder)))
  return [...guardrails, 'examples/docs-assistant']
}

/** What decides the content of node_modules, as one hash. */
function manifestHash() {
  const folders = ['packages', 'templates'].flatMap((folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)
      : [],
  )
  const manifests = ['.', 'examples', 'examples/use-chat', 'bench', 'site', ...folders].map(
    (folder) => `${folder}/package.json`,
  )
  const hash = createHash('sha256')
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests.toSorted()]) {
    const path = join(root, file)
    if (existsSync(path)) hash.update(`${file}\n`).update(readFileSync(path))
  }
  return hash.digest('hex')
}

function isInstalled() {
  // An `npm install` since then has undone what pnpm linked.
  return (
    !existsSync(npmState) && existsSync(stamp) && readFileSync(stamp, 'utf8') === manifestHash()
  )
}

async function install(options) {
  process.stderr.write('Installing dependencies (first run, or the manifests changed) ...\n')
  await pnpmInstall(['--reporter=append-only', ...options])
  rmSync(npmState, { force: true })
  writeFileSync(stamp, manifestHash())
}

async function pnpmInstall(options) {
  // pnpm reads neither npm's global configuration nor npm_config_*, so what npm resolved is handed over.
  env.PNPM_CONFIG_REGISTRY ??= npmConfig('registry')
  const cafile = npmConfig('cafile')
  if (cafile) env.PNPM_CONFIG_CAFILE ??= cafile
  // Standard output belongs to the task.
  const stdio = ['ignore', process.stderr, process.stderr]
  const unasked = '--config.confirmModulesPurge=false'
  await runWithPnpm('pnpm', ['install', unasked, ...options], stdio)
}

function npmConfig(key) {
  const { stdout } = spawnSync('npm', ['config', 'get', key], { env, shell: windows })
  const value = String(stdout ?? '').trim()
  return /^(|null|undefined)$/.test(value) ? undefined : value
}

/** Runs a file of this repository on the Node that the workspace brings, else on the user's own. */
function script(file, ...flags) {
  if (!existsSync(join(root, file))) fail(`\`${task}\` runs ${file}, which is missing`)
  if (!existsSync(join(bin, 'node'))) requireNode(22, 18, 'to run TypeScript files directly')
  return run('node', [...flags, file, ...args])
}

/** Runs a command that needs the pinned pnpm on its PATH, itself or in a child. */
function runWithPnpm(command, options, stdio) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const found = spawnSync('pnpm', ['--version'], { cwd: root, env, shell: windows })
  if (`pnpm@${String(found.stdout ?? '').trim()}` === packageManager) {
    return run(command, options, stdio)
  }
  return run('npx', ['--yes', `--package=${packageManager}`, '--', command, ...options], stdio)
}

/** Resolves when the command succeeds; otherwise this process ends as the command did. */
function run(command, options, stdio = 'inherit') {
  const child = spawn(command, options, { cwd: root, env, stdio, shell: windows })
  // Ctrl-C reaches the child from the terminal; it decides what that means.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  return new Promise((resolve) => {
    child.on('error', (error) => fail(error.message))
    child.on('close', (code, signal) => {
      if (code === 0) resolve()
      else process.exit(code ?? 128 + constants.signals[signal])
    })
  })
}

function requireNode(major, minor, purpose) {
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return
  fail(`Node ${major}.${minor} or newer is needed ${purpose}, this is ${process.versions.node}`)
}

function fail(message) {
  process.stderr.write(`lamella: ${message}\n`)
  process.exit(1)
}

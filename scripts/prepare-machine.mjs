// Installs the Debian packages that tests need and a bare machine lacks, and starts the services that do not answer.
// Ends with SIGTERM or with its standard input, and takes the services that it has started along. `.ci/run` uses it.
// usage: node scripts/prepare-machine.mjs
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const packages = {
  chromium: 'chromium',
  nginx: 'nginx-light',
  'redis-server': 'redis-server',
  postgres: 'postgresql',
}
const isRoot = process.getuid?.() === 0
const folder = mkdtempSync(join(tmpdir(), 'lamella-services-'))
const services = []

installMissing()
await startRedis()
await startPostgres()
console.log('ready')

process.stdin.resume()
await new Promise((resolve) => {
  process.stdin.once('end', resolve).once('close', resolve)
  process.once('SIGTERM', resolve)
})
await Promise.all(
  services.map((service) => {
    const exit = new Promise((resolve) => service.once('exit', resolve))
    service.kill('SIGINT')
    return exit
  }),
)
rmSync(folder, { recursive: true, force: true })
process.exit(0)

function installMissing() {
  linkPostgres()
  const missing = Object.keys(packages).filter((program) => !isOnPath(program))
  if (missing.length === 0 || !isOnPath('apt-get')) return
  const names = missing.map((program) => packages[program])
  console.log(`apt-get installs ${names.join(', ')}`)
  aptGet('update')
  // One by one, since one that a mirror lacks should not keep the others away.
  for (const name of names) aptGet('install', '-y', '--no-install-recommends', name)
  linkPostgres()
}

function aptGet(...args) {
  const command = ['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=300', ...args]
  const [program, ...rest] = isRoot ? command : ['sudo', '-n', ...command]
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync(program, rest, { env, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Debian keeps the programs of PostgreSQL beside the PATH, in a folder for each version. */
function linkPostgres() {
  const versions = '/usr/lib/postgresql'
  const [latest] = existsSync(versions) ? readdirSync(versions).toSorted().toReversed() : []
  if (latest === undefined || !isRoot) return
  for (const program of ['initdb', 'postgres']) {
    if (!isOnPath(program))
      symlinkSync(join(versions, latest, 'bin', program), join('/usr/local/bin', program))
  }
}

async function startRedis() {
  if (process.env.REDIS_URL !== undefined || (await answers(6379)) || !isOnPath('redis-server'))
    return
  const settings = ['--port', '6379', '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  services.push(spawn('redis-server', settings, { stdio: 'ignore' }))
  await untilAnswers(6379)
}

async function startPostgres() {
  if (process.env.POSTGRES_URL !== undefined || (await answers(5432)) || !isOnPath('postgres'))
    return
  // PostgreSQL does not run as root.
  const nobody = 65_534
  const user = isRoot ? { uid: nobody, gid: nobody } : {}
  if (isRoot) chownSync(folder, nobody, nobody)
  const data = join(folder, 'postgres')
  const place = { ...user, cwd: folder, stdio: 'ignore' }
  spawnSync('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync'], place)
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off']
  const flags = settings.flatMap((setting) => ['-c', setting])
  spawnSync('postgres', ['--single', '-D', data, 'postgres'], {
    ...place,
    stdio: ['pipe', 'ignore', 'ignore'],
    input: 'CREATE DATABASE test;\n',
  })
  services.push(spawn('postgres', ['-D', data, '-p', '5432', ...flags], place))
  await untilAnswers(5432)
}

async function untilAnswers(port) {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (await answers(port)) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  console.error(`nothing answers at port ${port}`)
}

function answers(port) {
  const socket = connect({ host: '127.0.0.1', port })
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}

function isOnPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((path) => existsSync(join(path, program)))
}

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testRandom } from '../../packages/testing/src/index.ts'
import { freePort } from '../support/free-port.ts'
import { hasOwnPostgres, startPostgres } from '../support/own-postgres.ts'
import type { Line, Orders } from './agent-process.test-helper.ts'
import { agentOf, openStore } from './agent-process.test-helper.ts'

// Eight processes of one agent on one store. Two are killed, each once the ledger has so many lines, and others
// take their places; on the way a Redis or PostgreSQL of our own crashes and starts again.
// `MANY_PROCESSES=20` runs twenty seeds in place of one.

const seeds = Array.from({ length: Number(process.env['MANY_PROCESSES'] ?? 1) }, (_, at) => at + 1)
const limits = { budget: 40, requests: 20, concurrency: 3 }
const approvals = ['a', 'b', 'c']
const questions = ['one', 'two', 'three', 'four']
const kills = 2

const folder = mkdtempSync(join(tmpdir(), 'lamella-many-'))
const program = join(folder, 'process.cjs')
const children = new Set<ChildProcess>()

beforeAll(async () => {
  await build({
    stdin: {
      contents: `import { work } from './agent-process.test-helper.ts'
        void work(JSON.parse(process.argv[2]))`,
      resolveDir: import.meta.dirname,
    },
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    conditions: ['@lamella/source'],
    external: ['pg-native'],
    logLevel: 'error',
  })
})

afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

/** A database for one test. */
interface Database {
  readonly place: string
  /** Ends it and starts it again, as far as it can be. Missing where there is no server. */
  readonly restart?: () => Promise<void>
  close(): Promise<void>
}

const databases: Record<Orders['store'], (name: string) => Promise<Database>> = {
  sqlite: async (name) => ({ place: join(folder, `${name}.db`), close: async () => {} }),

  async redis(name) {
    const port = await freePort()
    const start = async (): Promise<ChildProcess> => {
      const settings = ['--port', `${port}`, '--dir', folder, '--save', '', '--daemonize', 'no']
      const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--appenddirname', name]
      const server = spawn('redis-server', [...settings, ...durable])
      children.add(server)
      await once(server.stdout, 'data')
      return server
    }
    const end = async (server: ChildProcess): Promise<void> => {
      server.kill('SIGKILL')
      await once(server, 'exit')
    }
    let server = await start()
    return {
      place: `redis://127.0.0.1:${port}`,
      async restart() {
        await end(server)
        server = await start()
      },
      close: () => end(server),
    }
  },

  async postgres() {
    const server = await startPostgres(children)
    return { ...server, place: server.url }
  },
}

const hasRedisServer = (process.env['PATH'] ?? '')
  .split(':')
  .some((path) => existsSync(join(path, 'redis-server')))
const isThere: Record<Orders['store'], boolean> = {
  sqlite: true,
  redis: hasRedisServer,
  postgres: hasOwnPostgres,
}
for (const [store, servers] of [
  ['redis', 'redis-server'],
  ['postgres', 'initdb and postgres'],
] as const) {
  if (isThere[store]) continue
  if (process.env['CI'] === 'true') throw new Error(`PATH lacks ${servers}`)
  console.warn(`SKIPPED: PATH lacks ${servers}`)
}

/** Runs eight processes to their end, with what happens to them. */
async function runProcesses(
  orders: Omit<Orders, 'seed'>,
  seed: number,
  restart: Database['restart'],
): Promise<readonly Line[]> {
  const random = testRandom(seed)
  const running = new Set<ChildProcess>()
  const failures: string[] = []
  let started = 0
  const start = (): void => {
    const own: Orders = { ...orders, seed: seed * 100 + started++ }
    const child = spawn(process.execPath, ['--no-warnings', program, JSON.stringify(own)])
    child.stderr.on('data', (text: Buffer) => failures.push(text.toString()))
    children.add(child)
    running.add(child)
    child.on('exit', () => running.delete(child))
  }
  const killOne = async (): Promise<void> => {
    const victim = [...running][Math.floor(random() * running.size)]
    if (victim === undefined) return
    const over = once(victim, 'exit')
    victim.kill('SIGKILL')
    await over
    appendFileSync(orders.ledger, `${JSON.stringify(['killed', '', '', victim.pid])}\n`)
    start()
  }
  const events = [
    { at: 5 + Math.floor(random() * 40), act: killOne },
    { at: 60 + Math.floor(random() * 60), act: killOne },
    { at: 20 + Math.floor(random() * 100), act: async () => restart?.() },
  ].toSorted((one, other) => one.at - other.at)

  for (let number = 0; number < 8; number++) start()
  for (const { at, act } of events) {
    await expect
      .poll(() => linesOf(orders.ledger).length >= at || running.size === 0, {
        interval: 5,
      })
      .toBe(true)
    await act()
  }
  await expect.poll(() => running.size, { interval: 20 }).toBe(0)
  expect(failures).toEqual([])
  return linesOf(orders.ledger)
}

function linesOf(ledger: string): readonly Line[] {
  const lines = readFileSync(ledger, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Line)
}

/** The most calls of a tenant that ran at the same time. */
function mostAtOnce(lines: readonly Line[], tenant: string): number {
  const open = new Set<string>()
  let most = 0
  for (const [what, owner, about, pid] of lines) {
    const call = `${pid} ${about}`
    if (what === 'killed') for (const one of open) if (one.startsWith(`${pid} `)) open.delete(one)
    if (owner !== tenant) continue
    if (what === 'begin') open.add(call)
    if (what === 'end') open.delete(call)
    most = Math.max(most, open.size)
  }
  return most
}

const countOf = (lines: readonly Line[], what: Line[0], tenant: string, about?: string): number =>
  lines.filter(
    (line) => line[0] === what && line[1] === tenant && (about === undefined || line[2] === about),
  ).length

describe.each(['sqlite', 'redis', 'postgres'] as const)('eight processes on %s', (store) => {
  it.skipIf(!isThere[store]).each(seeds)(
    'exceed no limit, lose nothing and do nothing twice, seed %i',
    async (seed) => {
      const name = `many_${store}_${seed}_${process.pid}`
      const database = await databases[store](name)
      const ledger = join(folder, `${name}.jsonl`)
      writeFileSync(ledger, '')
      const basics = { store, place: database.place, ledger, limits }
      const opened = openStore(basics)
      const agent = agentOf(opened, basics)
      const paused = []
      for (const id of approvals) {
        const { checkpoint, pending } = await agent.run(`pays/${id}`, { tenant: 'pays' })
        paused.push({ checkpoint: checkpoint!, request: pending[0]!.id })
      }

      const lines = await runProcesses({ ...basics, paused, questions }, seed, database.restart)

      // Nothing twice: each approval pays once at most. One that was claimed by what died pays never.
      for (const id of approvals) {
        expect(countOf(lines, 'paid', 'pays', id)).toBeLessThanOrEqual(1)
      }
      // No limit is exceeded, whoever died.
      expect(countOf(lines, 'begin', 'spends')).toBeLessThanOrEqual(limits.budget)
      expect(countOf(lines, 'begin', 'limited')).toBeLessThanOrEqual(limits.requests)
      for (const tenant of ['asks', 'spends', 'limited']) {
        expect(mostAtOnce(lines, tenant)).toBeLessThanOrEqual(limits.concurrency)
      }
      // Nothing is lost: all who lived have all answers and came to each limit.
      const dead = new Set(lines.filter(([what]) => what === 'killed').map((line) => line[3]))
      const stopped = lines.filter(([what, , , pid]) => what === 'stopped' && !dead.has(pid))
      expect(new Set(stopped.map(([, tenant, why]) => `${tenant}: ${why}`))).toEqual(
        new Set(['spends: budget_exhausted', 'limited: rate_limited']),
      )
      const living = new Set(stopped.map((line) => line[3]))
      expect(stopped).toHaveLength(2 * living.size)
      for (const question of questions) {
        const answers = lines.filter(
          ([what, tenant, about, pid]) =>
            what === 'answered' &&
            living.has(pid) &&
            tenant === `asks/${question}` &&
            about === `The answer to ${question}`,
        )
        expect(answers).toHaveLength(living.size)
      }
      // What a dead process had taken stays taken. Where replies were lost, more is.
      const lost = database.restart === undefined ? kills : Infinity
      expect(countOf(lines, 'begin', 'spends')).toBeGreaterThanOrEqual(limits.budget - lost)
      expect(countOf(lines, 'begin', 'limited')).toBeGreaterThanOrEqual(limits.requests - lost)
      expect(countOf(lines, 'paid', 'pays')).toBeGreaterThanOrEqual(approvals.length - lost)
      for (const question of questions) {
        expect(countOf(lines, 'begin', 'asks', question)).toBeLessThanOrEqual(1 + lost)
      }
      await opened.close()
      await database.close()
    },
  )
})

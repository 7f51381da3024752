import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createId, createSession } from '../../packages/core/src/index.ts'
import { sessions } from '../../packages/store/src/index.ts'
import { AgentQueue, AgentWorker } from '../../packages/worker-bullmq/src/index.ts'
import { hasPostgres, postgresUrl } from '../support/real-postgres.ts'
import { hasRedis, redisUrl } from '../support/real-redis.ts'
import type { Place, Race, RaceOrders } from './resumer-process.test-helper.ts'
import { openPlace, payingAgent } from './resumer-process.test-helper.ts'

// Two processes give the same answers at the same instant, over and over. `RACES=50` runs fifty races of each kind.
const racesOfEach = Number(process.env['RACES'] ?? 4)

const folder = mkdtempSync(join(tmpdir(), 'lamella-races-'))
const program = join(folder, 'process.cjs')

beforeAll(async () => {
  await build({
    stdin: {
      contents: `import { race } from './resumer-process.test-helper.ts'
        void race(JSON.parse(require('node:fs').readFileSync(process.argv[2], 'utf8')))`,
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
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs two processes, and returns what came of each race in each. */
async function runTwo(orders: RaceOrders): Promise<readonly (readonly string[])[]> {
  const file = join(folder, `${orders.queue}.json`)
  writeFileSync(file, JSON.stringify(orders))
  const one = async (): Promise<readonly string[]> => {
    const child = spawn(process.execPath, ['--no-warnings', program, file])
    const [output, problems] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect(problems).toBe('')
    return JSON.parse(output) as readonly string[]
  }
  return Promise.all([one(), one()])
}

const stores = [
  { store: 'redis', isThere: hasRedis },
  { store: 'postgres', isThere: hasPostgres && hasRedis },
] as const

describe.each(stores)(
  'two processes that answer at the same instant, on $store',
  ({ store, isThere }) => {
    it.skipIf(!isThere)('run each call once: the other gets `approval_used`', async () => {
      const queueName = createId('races')
      const ledger = join(folder, `${queueName}.txt`)
      writeFileSync(ledger, '')
      const schema = `races_${queueName.replaceAll(/\W/g, '_')}`.toLowerCase()
      const place: Place = { store, url: store === 'redis' ? redisUrl : postgresUrl, schema }
      const opened = openPlace(place)
      const agent = payingAgent(opened, ledger)
      const kept = sessions(opened)
      const connected = { name: queueName, connection: redisUrl }
      const queue = new AgentQueue(connected)
      const worker = new AgentWorker({ ...connected, agents: { payer: agent } })

      const races: Race[] = []
      for (let number = 0; number < racesOfEach; number++) {
        const named = (kind: string): string => `${kind} ${queueName} ${number}`
        const yes = (pending: readonly { readonly id: string }[]): Race['answers'] =>
          Object.fromEntries(pending.map(({ id }) => [id, true]))
        const inSnapshot = createSession()
        const session = createId('session')
        // oxlint-disable-next-line no-await-in-loop
        const [own, deep, said, stored, queued] = await Promise.all([
          agent.run(named('checkpoint')),
          agent.run(named('sub-agent')),
          agent.run(named('session'), { session: inSnapshot }),
          agent.run(named('stored session'), { session: kept.at(session) }),
          queue.add({ agent: 'payer', input: named('queue') }),
        ])
        // oxlint-disable-next-line no-await-in-loop
        const { pending } = await queue.result(queued.runId)
        races.push(
          { name: named('checkpoint'), answers: yes(own.pending), checkpoint: own.checkpoint },
          { name: named('sub-agent'), answers: yes(deep.pending), checkpoint: deep.checkpoint },
          { name: named('session'), answers: yes(said.pending), snapshot: inSnapshot.toJSON() },
          { name: named('stored session'), answers: yes(stored.pending), session },
          { name: named('queue'), answers: yes(pending), queued: queued.runId },
        )
      }

      const startsAt = Date.now() + 3000
      const results = await runTwo({
        place,
        ledger,
        queue: queueName,
        redisUrl,
        races,
        startsAt,
        everyMs: 40,
      })

      const queuedRuns = races.flatMap(({ queued }) => queued ?? [])
      const outcomes = await Promise.all(queuedRuns.map((runId) => queue.result(runId)))
      const lines = readFileSync(ledger, 'utf8').split('\n').slice(0, -1)
      const ends = (at: number): readonly string[] => results.map((all) => all[at]!)
      const pairs = races.map(({ name }, at) => [name, ends(at).toSorted()])
      expect(pairs).toEqual(
        races.map(({ name, queued }) => [
          name,
          ['approval_used', queued === undefined ? 'completed' : 'queued'],
        ]),
      )
      expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 'completed'))
      expect(lines.toSorted()).toEqual(races.map(({ name }) => name).toSorted())

      await Promise.all([worker.close(), queue.close(), opened.close()])
      if (store === 'postgres') await dropSchema(schema)
    })
  },
)

async function dropSchema(schema: string): Promise<void> {
  const client = new Client({ connectionString: postgresUrl })
  await client.connect()
  await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await client.end()
}

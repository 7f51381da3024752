import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DBOSClient } from '@dbos-inc/dbos-sdk'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithPostgres, postgresUrl } from '../../../../tests/support/real-postgres.ts'
import { happenedIn } from '../testing/file-world.test-helper.ts'
import { answersTo, expectedOf } from '../testing/random-run.test-helper.ts'
import { answerDbos, requestsOfDbos } from './dbos-engine.ts'
import type { Orders } from './dbos-process.test-helper.ts'

describeWithPostgres('dbos', () => {
  const database = `lamella_dbos_${process.pid}`
  const url = Object.assign(new URL(postgresUrl), { pathname: `/${database}` }).href
  const folder = mkdtempSync(join(tmpdir(), 'lamella-dbos-'))

  async function inServer(sql: string): Promise<void> {
    const server = new Client({ connectionString: postgresUrl })
    await server.connect()
    await server.query(sql)
    await server.end()
  }

  beforeAll(() => inServer(`CREATE DATABASE ${database}`))

  afterAll(async () => {
    await inServer(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
    rmSync(folder, { recursive: true })
  })

  function start(orders: Orders): Promise<string | undefined> {
    const program = join(import.meta.dirname, 'dbos-process.test-helper.ts')
    const args = ['--conditions=@lamella/source', '--disable-warning=ExperimentalWarning']
    const child = spawn(process.execPath, [...args, program, JSON.stringify(orders)])
    let out = ''
    child.stdout.on('data', (data) => (out += String(data)))
    child.stderr.pipe(process.stderr)
    return new Promise((resolve) =>
      child.on('exit', (code) => resolve(code === 0 ? out : undefined)),
    )
  }

  it('runs that are killed at random end with the right answer, each effect once', async () => {
    const seeds = Array.from(
      { length: Number(process.env['DURABLE_RUNS'] ?? 40) },
      (_, at) => at + 1,
    )
    const over = new AbortController()
    const person = async (): Promise<void> => {
      const client = await DBOSClient.create({ systemDatabaseUrl: url })
      while (!over.signal.aborted) {
        for (const seed of seeds) {
          const workflow = `run-${seed}`
          const requests = await requestsOfDbos(client, workflow).catch(() => [])
          for (const [id, answer] of Object.entries(answersTo(requests)))
            await answerDbos(client, workflow, id, answer)
        }
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      await client.destroy()
    }
    let results: string | undefined
    let kills = 0
    const first = start({ url, folder, seeds, killAfter: 30 })
    await first
    const answering = person()
    for (; results === undefined; kills++) {
      const killAfter = kills < 12 ? 10 + Math.floor(Math.random() * 60) : undefined
      results = await start({ url, folder, seeds, ...(killAfter && { killAfter }) })
      expect(kills).toBeLessThan(20)
    }
    over.abort()
    await answering

    const lines = happenedIn(folder)
    const answers = JSON.parse(results) as readonly {
      text: string
      runId: string
      status: string
    }[]
    for (const [at, seed] of seeds.entries()) {
      const workflow = `run-${seed}`
      const expected = expectedOf(workflow, seed)
      const own = lines.filter((line) => line.workflow === workflow)
      const paid = own.flatMap(({ kind, what, amount }) =>
        kind === 'pay' ? [[what, amount!]] : [],
      )
      expect(answers[at]).toMatchObject({
        status: 'completed',
        text: expected.text,
        runId: workflow,
      })
      expect(Object.fromEntries(paid)).toEqual(expected.payments)
      // A model call is made again only if its step was not stored, so nothing has followed it.
      const isKnown = new Set<string>()
      const again: string[] = []
      let last = ''
      for (const { kind, what } of own) {
        if (kind === 'answered' && what !== last && isKnown.has(what)) again.push(what)
        if (kind === 'answered') isKnown.add(what)
        last = kind === 'pay' ? last : what
      }
      expect(again).toEqual([])
    }
  }, 300_000)
})

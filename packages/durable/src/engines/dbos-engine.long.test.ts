import { join } from 'node:path'
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk'
import { Agent, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithPostgres, postgresUrl } from '../../../../tests/support/real-postgres.ts'
import type { TestedEngine, WorkflowAnswer } from '../testing/killed-workers.test-helper.ts'
import { surviveKills, surviveKillsAtEveryStep } from '../testing/killed-workers.test-helper.ts'
import { runDurably } from '../run/run-durably.ts'
import { answerDbos, dbos, requestsOfDbos } from './dbos-engine.ts'

const runs = Number(process.env['DURABLE_RUNS'] ?? 100)
const runsAtEveryStep = Math.min(200, Number(process.env['DURABLE_RUNS'] ?? 200))

describeWithPostgres('dbos', () => {
  const database = `lamella_dbos_${process.pid}`
  const url = Object.assign(new URL(postgresUrl), { pathname: `/${database}` }).href
  const program = join(import.meta.dirname, 'dbos-process.test-helper.ts')

  async function inServer(sql: string): Promise<void> {
    const server = new Client({ connectionString: postgresUrl })
    await server.connect()
    await server.query(sql)
    await server.end()
  }

  beforeAll(async () => {
    await inServer(`CREATE DATABASE ${database}`)
    // Makes the tables.
    DBOS.setConfig({ name: 'lamella-test', systemDatabaseUrl: url, logLevel: 'error' })
    await DBOS.launch()
    await DBOS.shutdown()
  })

  afterAll(async () => {
    await inServer(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
  })

  it('a workflow continues with its own code, and is refused with other code', async () => {
    const note = tool({ name: 'note', description: 'Notes.', execute: () => 'noted' })
    let tools = [note]
    const changing = DBOS.registerWorkflow(
      async () => {
        const client = scriptedClient([callFunction('note'), 'Done.'])
        return (await runDurably(new Agent({ client, tools }), 'Go.', dbos())).text
      },
      { name: 'changing' },
    )
    await DBOS.launch()
    const begun = await DBOS.startWorkflow(changing, { workflowID: 'changing-1' })()
    await begun.getResult()
    // From the step after the call of the tool.
    const fork = async () => (await DBOS.forkWorkflow<string>('changing-1', 3)).getResult()

    const same = await fork()
    tools = []
    const other = fork()

    expect(same).toBe('Done.')
    await expect(other).rejects.toThrow(/durable: .* the agent has changed since/)
    await DBOS.shutdown()
  })

  /** An engine whose workflows have these names. */
  function engineOf(client: DBOSClient, name: string): TestedEngine {
    return {
      program,
      orders: { url },
      async begin(seeds) {
        await client.registerQueue('runs', { minPollingIntervalMs: 100 })
        const begun = seeds.map(async (seed) => {
          const options = {
            queueName: 'runs',
            workflowName: 'answer',
            workflowID: `${name}-${seed}`,
            appVersion: '1',
          }
          return (await client.enqueue(options, seed)).workflowID
        })
        return Promise.all(begun)
      },
      tell: ({ workflow, id, answer }) => answerDbos(client, workflow, id, answer),
      answer: (workflow) => client.retrieveWorkflow<WorkflowAnswer>(workflow).getResult(),
    }
  }

  it('runs that are killed at every step end with the right answer, each effect once', async () => {
    const client = await DBOSClient.create({ systemDatabaseUrl: url })

    expect(
      await surviveKillsAtEveryStep(engineOf(client, 'killed'), runsAtEveryStep),
    ).toBeGreaterThan(20)

    await client.destroy()
  }, 900_000)

  it('runs on two workers that are killed end with the right answer, each effect once', async () => {
    const client = await DBOSClient.create({ systemDatabaseUrl: url })
    const engine = engineOf(client, 'run')
    const tell: TestedEngine['tell'] = async (asked) => {
      // The one who answers sees the request.
      const isOpen = async (): Promise<boolean> =>
        (await requestsOfDbos(client, asked.workflow)).some(({ id }) => id === asked.id)
      while (!(await isOpen())) await new Promise((resolve) => setTimeout(resolve, 200))
      await engine.tell(asked)
    }

    expect(await surviveKills({ ...engine, tell }, runs)).toBeGreaterThan(5)

    await client.destroy()
  }, 900_000)
})

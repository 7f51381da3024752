import { DBOS } from '@dbos-inc/dbos-sdk'
import { FileWorld } from '../testing/file-world.test-helper.ts'
import { agentOf } from '../testing/random-run.test-helper.ts'
import { runDurably } from '../run/run-durably.ts'
import { dbos } from './dbos-engine.ts'

/** Orders for a process of the test. */
export interface Orders {
  readonly url: string
  readonly folder: string
  readonly seeds: readonly number[]
  /** Events after which the process kills itself. */
  readonly killAfter?: number
}

const { url, folder, seeds, killAfter } = JSON.parse(process.argv[2]!) as Orders
const world = new FileWorld(folder, killAfter)

const answer = DBOS.registerWorkflow(
  async (seed: number) => {
    const agent = agentOf(seed, world.of(DBOS.workflowID!))
    const { text, status, usage, runId } = await runDurably(agent, 'Go.', dbos())
    return { text, status, usage, runId }
  },
  { name: 'answer' },
)

DBOS.setConfig({
  name: 'lamella-test',
  systemDatabaseUrl: url,
  applicationVersion: '1',
  logLevel: 'error',
})
await DBOS.launch()
const handles = await Promise.all(
  seeds.map((seed) => DBOS.startWorkflow(answer, { workflowID: `run-${seed}` })(seed)),
)
const results = await Promise.all(handles.map((handle) => handle.getResult()))
process.stdout.write(JSON.stringify(results))
await DBOS.shutdown()

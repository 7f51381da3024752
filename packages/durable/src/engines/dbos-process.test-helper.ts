import { DBOS } from '@dbos-inc/dbos-sdk'
import { FileWorld } from '../testing/file-world.test-helper.ts'
import type { WorkerOrders } from '../testing/killed-workers.test-helper.ts'
import { agentOf } from '../testing/random-run.test-helper.ts'
import { runDurably } from '../run/run-durably.ts'
import { storedUpdates } from '../updates/stored-updates.ts'
import { dbos } from './dbos-engine.ts'

const orders = JSON.parse(process.argv[2]!) as WorkerOrders & { readonly url: string }
const { url, folder, killAfter, worker } = orders
const world = new FileWorld(folder, killAfter)
const updates = storedUpdates(world.store)

DBOS.registerWorkflow(
  async (seed: number) => {
    const agent = agentOf(seed, world.of(DBOS.workflowID!))
    const { text, status, usage, runId } = await runDurably(agent, 'Go.', {
      ...dbos(),
      updates,
    })
    return { text, status, usage, runId }
  },
  { name: 'answer' },
)

DBOS.setConfig({
  name: 'lamella-test',
  systemDatabaseUrl: url,
  applicationVersion: '1',
  executorID: `worker-${worker}`,
  logLevel: 'error',
})
await DBOS.launch()

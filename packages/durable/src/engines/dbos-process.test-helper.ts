import { DBOS } from '@dbos-inc/dbos-sdk'
import { FileWorld } from '../testing/file-world.test-helper.ts'
import { KillGate } from '../testing/kill-gate.test-helper.ts'
import type { WorkerOrders, WorkflowAnswer } from '../testing/killed-workers.test-helper.ts'
import type { Asked } from '../testing/person.test-helper.ts'
import { askPerson } from '../testing/person.test-helper.ts'
import { agentOf, answersTo } from '../testing/random-run.test-helper.ts'
import type { DurableEngine } from '../steps/durable-engine.ts'
import { runDurably } from '../run/run-durably.ts'
import { storedUpdates } from '../updates/stored-updates.ts'
import { dbos } from './dbos-engine.ts'

const orders = JSON.parse(process.argv[2]!) as WorkerOrders & { readonly url: string }
const { url, folder, killAfter, gatedRuns, worker } = orders
const world = new FileWorld(folder, killAfter)
const updates = storedUpdates(world.store)
const gate = gatedRuns === undefined ? undefined : new KillGate(folder, gatedRuns)
const ask = (asked: Asked): void =>
  gate === undefined ? askPerson(folder, asked) : gate.ask(asked)

DBOS.registerWorkflow(
  async (seed: number): Promise<WorkflowAnswer> => {
    const engine = dbos()
    const workflow = engine.id!
    const agent = agentOf(seed, world.of(workflow))
    const asking: DurableEngine = {
      ...engine,
      wait: (requests) => {
        for (const [id, answer] of Object.entries(answersTo(requests)))
          ask({ workflow, id, answer })
        return engine.wait!(requests)
      },
    }
    const run = async (given: Parameters<typeof runDurably>[2]): Promise<WorkflowAnswer> => {
      const { text, status, usage, runId } = await runDurably(agent, 'Go.', given)
      return { text, status, usage, runId }
    }
    return gate === undefined ? run({ ...asking, updates }) : gate.run(workflow, asking, run)
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

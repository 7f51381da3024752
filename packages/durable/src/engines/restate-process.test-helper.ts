import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '@restatedev/restate-sdk'
import { serve, service } from '@restatedev/restate-sdk'
import { FileWorld } from '../testing/file-world.test-helper.ts'
import { KillGate } from '../testing/kill-gate.test-helper.ts'
import type { WorkerOrders, WorkflowAnswer } from '../testing/killed-workers.test-helper.ts'
import { askPerson } from '../testing/person.test-helper.ts'
import { agentOf, answersTo } from '../testing/random-run.test-helper.ts'
import { runDurably } from '../run/run-durably.ts'
import { storedUpdates } from '../updates/stored-updates.ts'
import type { RestateRequest } from './restate-engine.ts'
import { restate } from './restate-engine.ts'

const orders = JSON.parse(process.argv[2]!) as WorkerOrders & { readonly ports: readonly number[] }
const { ports, folder, killAfter, gatedRuns, worker } = orders
const world = new FileWorld(folder, killAfter)
const updates = storedUpdates(world.store)
const gate = gatedRuns === undefined ? undefined : new KillGate(folder, gatedRuns)

const assistant = service({
  name: 'assistant',
  handlers: {
    answer: async (context: Context, seed: number): Promise<WorkflowAnswer> => {
      const workflow = context.request().id
      const tell = async (requests: readonly RestateRequest[]): Promise<void> => {
        const answers = answersTo(requests.map(({ request }) => request))
        for (const { request, awakeableId: address } of requests) {
          const asked = { workflow, id: request.id, address, answer: answers[request.id] }
          if (gate === undefined) askPerson(folder, asked)
          else gate.ask(asked)
        }
      }
      const engine = restate(context, {
        ask: (requests) =>
          gate === undefined
            ? tell(requests)
            : gate.effect(workflow, `ask ${requests[0]!.request.id}`, () => tell(requests)),
      })
      const agent = agentOf(seed, world.of(workflow))
      const run = async (given: Parameters<typeof runDurably>[2]): Promise<WorkflowAnswer> => {
        const { text, status, usage, runId } = await runDurably(agent, 'Go.', given)
        return { text, status, usage, runId }
      }
      return gate === undefined ? run({ ...engine, updates }) : gate.run(workflow, engine, run)
    },
  },
})
await serve({
  services: [assistant],
  port: ports[worker]!,
  logger: (_, ...words) => {
    const text = words.map(String).join(' ')
    if (text.includes('RestateError')) appendFileSync(join(folder, 'problems.txt'), `${text}\n`)
  },
})

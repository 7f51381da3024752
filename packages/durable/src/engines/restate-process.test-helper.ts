import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '@restatedev/restate-sdk'
import { serve, service } from '@restatedev/restate-sdk'
import { FileWorld } from '../testing/file-world.test-helper.ts'
import type { WorkerOrders } from '../testing/killed-workers.test-helper.ts'
import { agentOf, answersTo } from '../testing/random-run.test-helper.ts'
import { runDurably } from '../run/run-durably.ts'
import { storedUpdates } from '../updates/stored-updates.ts'
import { restate } from './restate-engine.ts'

const orders = JSON.parse(process.argv[2]!) as WorkerOrders & { readonly ports: readonly number[] }
const { ports, folder, killAfter, worker } = orders
const world = new FileWorld(folder, killAfter)
const updates = storedUpdates(world.store)

const assistant = service({
  name: 'assistant',
  handlers: {
    answer: async (context: Context, seed: number) => {
      const engine = restate(context, {
        // The person of the test reads this file.
        ask: async (asked) => {
          const answers = answersTo(asked.map(({ request }) => request))
          for (const { request, awakeableId } of asked) {
            const line = JSON.stringify({ awakeableId, answer: answers[request.id] })
            appendFileSync(join(folder, 'asked.jsonl'), `${line}\n`)
          }
        },
      })
      const agent = agentOf(seed, world.of(context.request().id))
      const { text, status, usage, runId } = await runDurably(agent, 'Go.', {
        ...engine,
        updates,
      })
      return { text, status, usage, runId }
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

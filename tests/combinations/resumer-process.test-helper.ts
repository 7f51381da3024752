// One of two processes that answer the same requests and continue from the same checkpoints at the same instant.
// A tool that runs writes a line of a ledger, which both share.
import { appendFileSync } from 'node:fs'
import type { Checkpoint, SessionSnapshot, Store } from '../../packages/core/src/index.ts'
import {
  Agent,
  LamellaError,
  agentTool,
  createSession,
  jsonSchema,
  tool,
} from '../../packages/core/src/index.ts'
import { sessions } from '../../packages/store/src/index.ts'
import { postgresStore } from '../../packages/store-postgres/src/index.ts'
import { redisStore } from '../../packages/store-redis/src/index.ts'
import { callFunction, scriptedClient } from '../../packages/testing/src/index.ts'
import { AgentQueue } from '../../packages/worker-bullmq/src/index.ts'

/** Something that waits, and what both processes answer. */
export interface Race {
  readonly name: string
  readonly answers: Readonly<Record<string, unknown>>
  readonly checkpoint?: Checkpoint | undefined
  readonly snapshot?: SessionSnapshot | undefined
  /** Id of a session in the store. */
  readonly session?: string | undefined
  /** Id of a run of the queue. */
  readonly queued?: string | undefined
}

/** Orders of both processes. */
export interface RaceOrders {
  readonly place: Place
  readonly ledger: string
  readonly queue: string
  readonly redisUrl: string
  readonly races: readonly Race[]
  /** Time of the first race; the others follow. */
  readonly startsAt: number
  readonly everyMs: number
}

/** Address of a store, and the schema that a test has to itself. */
export interface Place {
  readonly store: 'redis' | 'postgres'
  readonly url: string
  readonly schema: string
}

export function openPlace({ store, url, schema }: Place): Store {
  return store === 'redis' ? redisStore(url) : postgresStore(url, { schema })
}

/** The agent of every process: it pays when a person has allowed it, itself or by an agent that it asks. */
export function payingAgent(store: Store, ledger: string): Agent {
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    parameters: jsonSchema({ type: 'object', properties: { name: { type: 'string' } } }),
    approval: 'always',
    execute: async ({ name }) => {
      appendFileSync(ledger, `${String(name)}\n`)
      await new Promise((resolve) => setTimeout(resolve, 5))
      return 'paid'
    },
  })
  const asked = (messages: readonly { readonly contents: readonly unknown[] }[]): string =>
    String((messages[0]!.contents[0] as { text?: string }).text)
  const clerk = new Agent({
    name: 'clerk',
    client: scriptedClient(({ messages }) =>
      messages.at(-1)!.role === 'tool' ? 'Paid.' : callFunction('pay', { name: asked(messages) }),
    ),
    tools: [pay],
  })
  const client = scriptedClient(({ messages }) => {
    if (messages.at(-1)!.role === 'tool') return 'Done.'
    const name = asked(messages)
    const isDeep = name.startsWith('sub-agent')
    return isDeep ? callFunction('clerk', { task: name }) : callFunction('pay', { name })
  })
  return new Agent({ name: 'payer', client, tools: [pay, agentTool(clerk)], store })
}

/** Takes part in all races, and prints what came of each. */
export async function race(orders: RaceOrders): Promise<void> {
  const store = openPlace(orders.place)
  const agent = payingAgent(store, orders.ledger)
  const queue = new AgentQueue({ name: orders.queue, connection: orders.redisUrl })
  // Whoever connects only now would be late.
  await store.get('warm')
  await queue.read('nobody').catch(() => {})
  const results: string[] = []
  for (const [number, given] of orders.races.entries()) {
    const { answers, checkpoint, snapshot, session, queued } = given
    const waitMs = orders.startsAt + number * orders.everyMs - Date.now()
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    const resume = async (): Promise<string> => {
      if (queued !== undefined) {
        // The same answer once more is a repeated request, and no other answer.
        const reason = String(process.pid)
        const own = Object.keys(answers).map((id) => [id, { approved: true, reason }])
        await queue.resume(queued, Object.fromEntries(own))
        return 'queued'
      }
      if (checkpoint !== undefined) return (await agent.resume(checkpoint, answers)).status
      const of = snapshot === undefined ? sessions(store).at(session!) : createSession(snapshot)
      return (await agent.run([], { session: of, answers })).status
    }
    results.push(
      await resume().catch((error: unknown) =>
        LamellaError.is(error) ? error.code : String(error),
      ),
    )
  }
  await Promise.all([store.close(), queue.close()])
  console.log(JSON.stringify(results))
}

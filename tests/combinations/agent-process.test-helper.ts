// One of many processes of one agent. It answers approvals, asks what others ask too, and spends a budget and a
// limit until nothing is left. Whatever it does is first a line of a ledger, which survives its death.
import { appendFileSync } from 'node:fs'
import type { Checkpoint, Store } from '../../packages/core/src/index.ts'
import { Agent, LamellaError, jsonSchema, tool } from '../../packages/core/src/index.ts'
import { toolPolicy } from '../../packages/guardrail-tools/src/index.ts'
import { budget } from '../../packages/middleware-budget/src/index.ts'
import { cache } from '../../packages/middleware-cache/src/index.ts'
import { rateLimit } from '../../packages/middleware-rate-limit/src/index.ts'
import { postgresStore } from '../../packages/store-postgres/src/index.ts'
import { redisStore } from '../../packages/store-redis/src/index.ts'
import { sqliteStore } from '../../packages/store-sqlite/src/index.ts'
import { callFunction, scriptedClient, testRandom } from '../../packages/testing/src/index.ts'

/** Orders of one process. */
export interface Orders {
  readonly store: 'sqlite' | 'redis' | 'postgres'
  /** File or URL of the store. */
  readonly place: string
  /** File of the ledger. */
  readonly ledger: string
  readonly seed: number
  readonly limits: Limits
  /** Runs that wait for approval, each with the ids of what is asked. */
  readonly paused: readonly PausedRun[]
  readonly questions: readonly string[]
}

/** Limits that all processes together keep. */
export interface Limits {
  /** Model calls of a tenant. */
  readonly budget: number
  /** Model calls of the tenant `limited` in an hour. */
  readonly requests: number
  /** Model calls of a tenant at the same time. */
  readonly concurrency: number
}

/** A run that waits for approval. */
export interface PausedRun {
  readonly checkpoint: Checkpoint
  readonly request: string
}

/** A line of the ledger. */
export type Line = readonly [
  what: 'begin' | 'end' | 'paid' | 'answered' | 'stopped' | 'killed',
  tenant: string,
  about: string,
  pid: number,
]

// A process that the machine holds up for some seconds keeps its slot.
const times = { leaseMs: 10_000, pollMs: 20 }
const open: Record<Orders['store'], (place: string, timeoutMs: number) => Store> = {
  sqlite: (place) => sqliteStore(place, times),
  redis: (place, timeoutMs) => redisStore(place, { ...times, timeoutMs }),
  postgres: (place, timeoutMs) => postgresStore(place, { ...times, timeoutMs }),
}

/** Makes the agent of every process. */
export function agentOf(store: Store, orders: Pick<Orders, 'ledger' | 'limits'>): Agent {
  const { ledger, limits } = orders
  const write = (what: Line[0], tenant: string, about: string): void => {
    const line: Line = [what, tenant, about, process.pid]
    appendFileSync(ledger, `${JSON.stringify(line)}\n`)
  }
  const client = scriptedClient(async ({ messages }) => {
    const last = messages.at(-1)!
    if (last.role === 'tool') return 'Done.'
    const [tenant = '', about = ''] = textOf(messages).split('/')
    if (tenant === 'pays') return callFunction('pay', { id: about })
    write('begin', tenant, about)
    await new Promise((resolve) => setTimeout(resolve, 5))
    write('end', tenant, about)
    return `The answer to ${about}`
  })
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    parameters: jsonSchema({ type: 'object', properties: { id: { type: 'string' } } }),
    execute: ({ id }) => {
      write('paid', 'pays', String(id))
      return 'paid'
    },
  })
  return new Agent({
    client,
    tools: [pay],
    store,
    middleware: [
      toolPolicy({ ask: ['pay'] }),
      budget({ scope: 'tenant', limits: { modelCalls: limits.budget } }),
      cache({ scope: 'tenant', singleFlight: { leaseMs: 10_000, pollMs: 10 } }),
      rateLimit({
        limits: [
          { unit: 'concurrency', limit: limits.concurrency },
          {
            unit: 'requests',
            limit: limits.requests,
            windowMs: 3_600_000,
            key: ({ run }) => (run.tenant === 'limited' ? run.tenant : run.id),
          },
        ],
        key: ({ run }) => String(run.tenant),
        maxWaitMs: 60_000,
        onLimit: ({ unit }) => (unit === 'requests' ? 'reject' : 'wait'),
        onStoreError: 'fail',
      }),
    ],
  })
}

function textOf(messages: readonly { readonly contents: readonly unknown[] }[]): string {
  return String((messages.at(-1)!.contents[0] as { text?: string }).text)
}

/** Carries the orders out. */
export async function work(orders: Orders): Promise<void> {
  const store = open[orders.store](orders.place, 1000)
  const agent = agentOf(store, orders)
  const random = testRandom(orders.seed)
  const say = (what: Line[0], tenant: string, about: string): void =>
    appendFileSync(orders.ledger, `${JSON.stringify([what, tenant, about, process.pid])}\n`)

  /** Tries until the store is there again. */
  const ask = async (tenant: string, about: string): Promise<string> => {
    for (;;) {
      try {
        const { status, text } = await agent.run(`${tenant}/${about}`, { tenant })
        return status === 'completed' ? text : status
      } catch (error) {
        if (LamellaError.is(error, 'rate_limited')) return error.code
        if (!isOfStore(error)) throw error
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }

  for (const { checkpoint, request } of shuffled(orders.paused, random)) {
    await agent
      .resume(checkpoint, { [request]: true }, { tenant: 'pays' })
      .catch((error: unknown) => {
        if (!isOfStore(error)) throw error
      })
  }
  for (const question of shuffled(orders.questions, random)) {
    say('answered', `asks/${question}`, await ask('asks', question))
  }
  for (const tenant of ['spends', 'limited']) {
    for (let number = 0; ; number++) {
      const came = await ask(tenant, `${process.pid}-${number}`)
      if (came.startsWith('The answer')) continue
      say('stopped', tenant, came)
      break
    }
  }
  await store.close()
}

/** An error of a store that did not answer, or of its database, and not of this program. */
function isOfStore(error: unknown): boolean {
  return !(error instanceof TypeError || error instanceof ReferenceError)
}

function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item)
}

/** Opens the store that processes are told of, for one that nobody takes away. */
export function openStore({ store, place }: Pick<Orders, 'store' | 'place'>): Store {
  return open[store](place, 60_000)
}

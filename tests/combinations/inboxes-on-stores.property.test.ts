import { afterEach, describe, expect, it } from 'vitest'
import type { KeyValueStore } from '../../packages/core/src/index.ts'
import { Agent, tool } from '../../packages/core/src/index.ts'
import { playInboxes } from '../../packages/steering/src/inbox-world.test-helper.ts'
import type { RequestChange } from '../../packages/store/src/index.ts'
import { requests } from '../../packages/store/src/index.ts'
import { postgresStore } from '../../packages/store-postgres/src/index.ts'
import { redisStore } from '../../packages/store-redis/src/index.ts'
import { sqliteStore } from '../../packages/store-sqlite/src/index.ts'
import { callFunction, scriptedClient } from '../../packages/testing/src/index.ts'
import { realServices } from '../support/real-services.ts'
import { isLong } from '../support/runs.ts'

// What people and runs tell each other, where they share nothing but a store: messages to a run, as in
// `packages/steering/src/inbox-model.property.test.ts`, and open requests.
const seeds = isLong ? 100 : 2

const { own, redis, pool } = realServices('inboxes')

type ClosingStore = KeyValueStore & { close(): unknown }
const opened: ClosingStore[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

/** One place, as two processes have it. */
type Place = () => readonly [here: KeyValueStore, there: KeyValueStore]
function twice(open: (namespace: string) => ClosingStore): Place {
  return () => {
    const namespace = `${own}-${crypto.randomUUID()}`
    const both = [open(namespace), open(namespace)] as const
    opened.push(...both)
    return both
  }
}
const stores: [string, Place][] = [
  [
    'SQLite',
    () => {
      const store = sqliteStore(':memory:')
      return [store, store]
    },
  ],
]
if (redis !== undefined)
  stores.push(['Redis', twice((namespace) => redisStore(redis, { namespace }))])
if (pool !== undefined) {
  const open = (namespace: string): ClosingStore => postgresStore(pool, { schema: own, namespace })
  stores.push(['PostgreSQL', twice(open)])
}

describe.each(stores)('over %s', (_, open) => {
  it(
    'messages to runs are delivered once, in order, judged, and none is lost in silence',
    async () => {
      const told = await playInboxes(seeds, open)

      expect(Math.min(told.delivered, told['not-delivered'])).toBeGreaterThan(seeds)
    },
    60_000 + seeds * 5000,
  )

  it('those who wait hear of requests that open and close elsewhere, each once', async () => {
    const [front, office] = open()
    const [here, there] = [requests(front, { pollMs: 20 }), requests(office, { pollMs: 20 })]
    const pay = tool({ name: 'pay', description: '', approval: 'always', execute: () => 'paid' })
    const calls = [0, 1, 2].map((at) => callFunction('pay', { at }, `c${at}`))
    const agent = new Agent({ client: scriptedClient([calls]), tools: [pay] })
    const { pending } = await agent.run('Pay')
    const ids = pending.map(({ id }) => id)
    const stop = new AbortController()
    const seen: RequestChange[] = []
    const watched = (async () => {
      for await (const change of there.changes({ tenant: 'acme', signal: stop.signal })) {
        seen.push(change)
        const { type, request } = change
        if (type === 'opened') void there.answer(request.id, true, { tenant: 'acme', by: 'max' })
        else if (seen.length === 6) stop.abort()
      }
    })()

    await here.open(pending, { tenant: 'acme' })
    const closed = await Promise.all(ids.map((id) => here.ended(id, { tenant: 'acme' })))
    await watched

    expect(closed).toMatchObject(ids.map(() => ({ end: 'answered', answer: true, by: 'max' })))
    const told = (type: string): string[] =>
      seen.flatMap((change) => (change.type === type ? change.request.id : [])).toSorted()
    expect([told('opened'), told('closed')]).toEqual([ids.toSorted(), ids.toSorted()])
    expect((await here.list({ tenant: 'acme' })).requests).toEqual([])
  })
})

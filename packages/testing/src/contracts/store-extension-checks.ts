import type { LimitClaim } from '@lamella/core/authoring'
import { demand, demandSame, rejectionOf } from './contract-assertions.ts'
import type { ContractCheck } from './contract-suite.ts'
import type { StoreCheck, StoreHarness } from './store-harness.ts'
import { contractKey as key } from './store-harness.ts'

/** Checks of the extensions that a store has. */
export function storeExtensionChecks(check: StoreCheck): readonly ContractCheck[] {
  return [
    ...counterChecks(check),
    ...limitChecks(check),
    ...listChecks(check),
    ...signalChecks(check),
  ]
}

const counts = ({ store }: StoreHarness): boolean => store.increment !== undefined
const limits = ({ store }: StoreHarness): boolean => store.limits !== undefined
const lists = ({ store }: StoreHarness): boolean => store.lists !== undefined
const signals = ({ store }: StoreHarness): boolean => store.signals !== undefined

function counterChecks(check: StoreCheck): readonly ContractCheck[] {
  return [
    check(
      'adds to a number, starting from 0',
      async (store) => {
        const sums = [
          await store.increment!(key, 2),
          await store.increment!(key, -0.5),
          await store.increment!(key, 0),
        ]
        await store.set(key, 0.1)

        demandSame(sums, [2, 1.5, 1.5], 'the sums')
        demandSame(await store.increment!(key, 0.2), 0.1 + 0.2, 'the sum')
        demandSame(await store.get(key), 0.1 + 0.2, 'the entry')
        demand(await store.compareAndSet(key, 0.1 + 0.2, 0), 'a sum must equal itself')
      },
      counts,
    ),

    check(
      'loses no concurrent addition',
      async (store, { again }) => {
        const other = (await again?.()) ?? store
        const sums = await Promise.all(
          Array.from({ length: 100 }, (_, at) => (at % 2 ? store : other).increment!(key, 1)),
        )

        demandSame(new Set(sums).size, 100, 'the number of different sums')
        demandSame(await store.get(key), 100, 'the entry')
      },
      counts,
    ),

    check(
      'adds only to numbers',
      async (store) => {
        await store.set(key, 'text')
        await rejectionOf(store.increment!(key, 1), 'adding to a text')

        demandSame(await store.get(key), 'text', 'the entry')
      },
      counts,
    ),

    check(
      'keeps a sum that an addition would make infinite',
      async (store) => {
        await store.increment!(key, Number.MAX_VALUE)
        await rejectionOf(store.increment!(key, Number.MAX_VALUE), 'adding up to infinity')

        demandSame(await store.get(key), Number.MAX_VALUE, 'the entry')
        demandSame(await store.increment!(key, -Number.MAX_VALUE), 0, 'the sum')
      },
      counts,
    ),

    check(
      'adds without extending the time to live',
      async (store, { advance }) => {
        await store.increment!(key, 1, { ttlMs: 1000 })
        await advance!(600)
        await store.increment!(key, 1, { ttlMs: 1000 })
        await advance!(600)

        demandSame(await store.get(key), undefined, 'the entry')
        demandSame(await store.increment!(key, 1), 1, 'the sum that begins anew')
      },
      (harness) => counts(harness) && harness.advance,
    ),
  ]
}

const claimOf = (over: Partial<LimitClaim> = {}): LimitClaim => ({
  key,
  kind: 'sliding-window',
  limit: 10,
  windowMs: 60_000,
  amount: 1,
  ...over,
})

const kinds = ['sliding-window', 'token-bucket', 'concurrency'] as const

function limitChecks(check: StoreCheck): readonly ContractCheck[] {
  return [
    check(
      'takes all claims of a call or none',
      async ({ limits: store }) => {
        const small = claimOf({ key: `${key}:small`, limit: 1 })
        const first = await store!.take('a', [claimOf({ amount: 4 }), small])
        const second = await store!.take('b', [claimOf({ amount: 4 }), small])
        const third = await store!.take('c', [claimOf({ amount: 6 })])

        demandSame([first.granted, second.granted, third.granted], [true, false, true], 'grants')
        demandSame(first.remaining, [6, 0], 'what remains')
        demandSame('index' in second && second.index, 1, 'the claim that waits')
      },
      limits,
    ),

    check(
      'admits exactly the limit of concurrent calls',
      async (store, { again }) => {
        const other = (await again?.()) ?? store
        for (const kind of kinds) {
          const claim = claimOf({ kind, key: `${key}:${kind}`, windowMs: 3_600_000 })
          const grants = await Promise.all(
            Array.from({ length: 25 }, async (_, at) =>
              (at % 2 ? store : other).limits!.take(`call-${at}`, [claim]),
            ),
          )
          const granted = grants.filter((grant) => grant.granted).length
          demandSame(granted, 10, `the number of grants of a ${kind}`)
        }
      },
      limits,
    ),

    check(
      'counts a repeated step once',
      async ({ limits: store }) => {
        for (const kind of kinds) {
          const claim = claimOf({ kind, key: `${key}:${kind}`, amount: 5, windowMs: 3_600_000 })
          const grants = [await store!.take('a', [claim]), await store!.take('a', [claim])]
          demand(
            grants.every((grant) => grant.granted),
            `${kind}: a take that runs twice is one`,
          )
          await store!.take('b', [claim])
          await store!.settle('a', [{ claim, used: 0 }])
          await store!.settle('a', [{ claim, used: 0 }])
          const after = [await store!.take('c', [claim]), await store!.take('d', [claim])]
          demandSame(
            after.map((grant) => grant.granted),
            [true, false],
            `grants of a ${kind} after its settlement ran twice`,
          )
        }
      },
      limits,
    ),

    check(
      'replaces a claim with the actual usage',
      async ({ limits: store }) => {
        for (const kind of ['sliding-window', 'token-bucket'] as const) {
          const claim = claimOf({ kind, key: `${key}:${kind}`, amount: 8, windowMs: 3_600_000 })
          await store!.take('a', [claim])
          await store!.settle('a', [{ claim, used: 3 }])
          const grants = [
            await store!.take('b', [{ ...claim, amount: 8 }]),
            await store!.take('c', [{ ...claim, amount: 6 }]),
          ]
          const granted = grants.map((grant) => grant.granted)
          demandSame(granted, [false, true], `grants of a ${kind} after 3 of 10 were used`)
        }
      },
      limits,
    ),

    check(
      'frees a window when it has passed',
      async ({ limits: store }, { advance }) => {
        const claim = claimOf({ amount: 6, windowMs: 1000 })
        await store!.take('a', [claim])
        await advance!(600)
        const early = await store!.take('b', [claim])
        await advance!(600)
        const late = await store!.take('c', [claim])

        demandSame([early.granted, late.granted], [false, true], 'grants')
        const wait = early.granted ? 0 : early.retryAfterMs
        demand(wait > 0 && wait <= 500, `the wait must be about 400 ms, got ${wait}`)
      },
      (harness) => limits(harness) && harness.advance,
    ),

    check(
      'counts what a call used that was longer than the window of its bucket',
      async ({ limits: store }, { advance }) => {
        const claim = claimOf({ kind: 'token-bucket', amount: 6, windowMs: 1000 })
        const other = { ...claim, key: `${key}:other`, amount: 1 }
        await store!.take('a', [claim])
        await advance!(1500)
        for (const id of ['b', 'c', 'd']) await store!.take(id, [other])
        await store!.settle('a', [{ claim, used: 8 }])
        const { granted } = await store!.take('e', [{ ...claim, amount: 10 }])

        demandSame(granted, false, 'the grant of a whole bucket after 2 more were used')
      },
      (harness) => limits(harness) && harness.advance,
    ),

    check(
      'admits less for as long as the provider requests',
      async ({ limits: store }, { advance }) => {
        const closed = claimOf({ key: `${key}:closed` })
        const less = claimOf({ key: `${key}:less`, amount: 3 })
        await store!.restrict([
          { claim: closed, remaining: 0, forMs: 1000 },
          { claim: less, remaining: 2, forMs: 1000 },
        ])
        const early = [await store!.take('a', [closed]), await store!.take('b', [less])]
        await advance!(1100)
        const late = [await store!.take('c', [closed]), await store!.take('d', [less])]

        const granted = [...early, ...late].map((grant) => grant.granted)
        demandSame(granted, [false, false, true, true], 'grants during and after it')
      },
      (harness) => limits(harness) && harness.advance,
    ),

    check(
      'frees the slots of a dead process, and keeps renewed ones',
      async ({ limits: store }, { advance }) => {
        const { leaseMs = 0 } = store!
        const claim = claimOf({ kind: 'concurrency', limit: 2, windowMs: 0 })
        await store!.take('lives', [claim])
        await store!.take('dies', [claim])
        await advance!(leaseMs * 0.6)
        await store!.renew('lives', [claim])
        const early = await store!.take('c', [claim])
        await advance!(leaseMs * 0.6)
        const late = [await store!.take('d', [claim]), await store!.take('e', [claim])]

        const granted = [early, ...late].map((grant) => grant.granted)
        demandSame(granted, [false, true, false], 'grants before and after the lease of one')
      },
      (harness) => limits(harness) && harness.advance && harness.store.limits?.leaseMs,
    ),
  ]
}

function listChecks(check: StoreCheck): readonly ContractCheck[] {
  return [
    check(
      'lists items from the highest score down, page by page',
      async ({ lists: store }) => {
        const items = [
          ['a', 1],
          ['b', 3],
          ['c', 2],
          ['d', 3],
          ['ä', 3],
        ] as const
        for (const [item, score] of items) await store!.add(key, item, score)
        await store!.add(key, 'a', 9)
        await store!.remove(key, 'c')
        await store!.remove(key, 'missing')
        const all = await store!.range(key, { limit: 10 })
        const pages: (typeof all)[number][] = []
        for (let after; pages.length < 10; after = pages.at(-1)) {
          const page = await store!.range(key, { limit: 1, after })
          if (page.length === 0) break
          pages.push(...page)
        }

        demandSame(
          all.map(({ score }) => score),
          [9, 3, 3, 3],
          'the scores',
        )
        demandSame(all[0]?.item, 'a', 'the first item')
        demandSame(pages, all, 'the pages together')
        demandSame(await store!.range(`${key}:other`, { limit: 1 }), [], 'another list')
      },
      lists,
    ),

    check(
      'keeps no more items, and no longer, than requested',
      async ({ lists: store }, { advance }) => {
        for (const score of [3, 1, 2]) {
          await store!.add(key, `item ${score}`, score, { keep: 2, ttlMs: 1000 })
        }
        const kept = await store!.range(key, { limit: 10 })
        await advance!(1100)

        demandSame(
          kept.map(({ score }) => score),
          [3, 2],
          'the scores',
        )
        demandSame(await store!.range(key, { limit: 10 }), [], 'the list that has expired')
      },
      (harness) => lists(harness) && harness.advance,
    ),
  ]
}

function signalChecks(check: StoreCheck): readonly ContractCheck[] {
  return [
    check(
      'carries notes to all who listen on a channel, until they stop',
      async (store, { again }) => {
        const own = store.signals!
        const other = again === undefined ? own : (await again()).signals!
        const heard: string[] = []
        const waiting: (() => void)[] = []
        const listen = (name: string, channel: string) =>
          own.listen(channel, (note) => {
            heard.push(`${name} ${note}`)
            waiting.splice(0).forEach((wake) => wake())
          })
        /** Sends a note, and waits until someone has heard the last one. */
        const tell = async (channel: string, note: string, hears: string) => {
          await other.send(channel, note)
          while (!heard.includes(hears)) await new Promise<void>((resolve) => waiting.push(resolve))
        }
        const stop = await listen('first', key)
        const stopSecond = await listen('second', key)
        const stopElsewhere = await listen('elsewhere', `${key}:other`)
        await tell(key, 'ä 1', 'second ä 1')
        await stop()
        await tell(key, '2', 'second 2')
        await stopSecond()
        await other.send(key, '3')
        await tell(`${key}:other`, '4', 'elsewhere 4')
        await stopElsewhere()

        const expected = ['first ä 1', 'second ä 1', 'second 2', 'elsewhere 4']
        demandSame(heard, expected, 'the notes')
      },
      signals,
    ),
  ]
}

import type { KeyValueStore } from '@lamella/core'
import { demand, demandSame, rejectionOf } from './contract-assertions.ts'
import type { ContractCheck, ContractSuite } from './contract-suite.ts'
import { contractSuite } from './contract-suite.ts'

/** A store under test. */
export interface StoreHarness {
  /** Empty, or at least without keys that begin with `contract:`. */
  readonly store: KeyValueStore
  /** Lets so much of the store's time pass. Left out, what depends on time is not checked. */
  advance?(ms: number): void | Promise<void>
  close?(): void | Promise<void>
}

export interface StoreContractOptions {
  /**
   * Of the suite.
   * @default 'store contract'
   */
  readonly name?: string | undefined
  /** Makes a store anew for each check. */
  readonly create: () => StoreHarness | Promise<StoreHarness>
  /** Names of checks that cannot hold here. */
  readonly except?: readonly string[] | undefined
}

/** What every `KeyValueStore` keeps, wherever it keeps its entries. */
export function storeContract(options: StoreContractOptions): ContractSuite {
  const { name = 'store contract', create, except } = options

  const check = (
    title: string,
    body: (store: KeyValueStore, advance: NonNullable<StoreHarness['advance']>) => Promise<void>,
  ): ContractCheck => ({
    name: title,
    run: async () => {
      const harness = await create()
      const needsTime = body.length > 1
      try {
        if (needsTime && harness.advance === undefined) return
        await body(harness.store, async (ms) => harness.advance?.(ms))
      } finally {
        await harness.close?.()
      }
    },
  })

  return contractSuite(
    name,
    [...entryChecks(check), ...stepChecks(check), ...timeChecks(check)],
    except,
  )
}

type Check = (
  title: string,
  body: (store: KeyValueStore, advance: NonNullable<StoreHarness['advance']>) => Promise<void>,
) => ContractCheck

const key = 'contract:entry'

function entryChecks(check: Check): readonly ContractCheck[] {
  return [
    check('reads a missing entry as undefined', async (store) => {
      demandSame(await store.get(key), undefined, 'a missing entry')
      await store.delete(key)
    }),

    check('gives back any JSON as it was written', async (store) => {
      for (const value of ['', 'grüße 😀', 0, -1.5, false, null, [], {}, [{ a: [1, null] }]]) {
        await store.set(key, value)
        const read = await store.get(key)
        demand(read !== undefined, `${JSON.stringify(value)} must be there`)
        demandSame(read, value, 'what is read')
      }
    }),

    check('keeps a copy, and gives copies', async (store) => {
      const value = { list: [1] }
      await store.set(key, value)
      value.list.push(2)
      const read = (await store.get(key)) as { list: number[] }
      read.list.push(3)

      demandSame(await store.get(key), { list: [1] }, 'the entry')
    }),

    check('keeps keys apart, whatever is in them', async (store) => {
      const keys = ['a', 'A', 'a:b', 'a b', 'ä/😀', `a${'x'.repeat(200)}`, `a${'x'.repeat(201)}`]
      await Promise.all(keys.map((entry, index) => store.set(`contract:${entry}`, index)))
      const read = await Promise.all(keys.map((entry) => store.get(`contract:${entry}`)))

      demandSame(
        read,
        keys.map((_, index) => index),
        'the entries',
      )
    }),

    check('deletes an entry and no other', async (store) => {
      await store.set(key, 1)
      await store.set(`${key}2`, 2)
      await store.delete(key)

      demandSame([await store.get(key), await store.get(`${key}2`)], [undefined, 2], 'the entries')
    }),
  ]
}

function stepChecks(check: Check): readonly ContractCheck[] {
  return [
    check('adds to a number, from 0 where there is none', async (store) => {
      const sums = [
        await store.increment(key, 2),
        await store.increment(key, -0.5),
        await store.increment(key, 0),
      ]

      demandSame(sums, [2, 1.5, 1.5], 'the sums')
      demandSame(await store.get(key), 1.5, 'the entry')
    }),

    check('loses no addition of many at once', async (store) => {
      const sums = await Promise.all(Array.from({ length: 100 }, () => store.increment(key, 1)))

      demandSame(new Set(sums).size, 100, 'the number of different sums')
      demandSame(await store.get(key), 100, 'the entry')
    }),

    check('adds to nothing but numbers', async (store) => {
      await store.set(key, 'text')
      await rejectionOf(store.increment(key, 1), 'adding to a text')

      demandSame(await store.get(key), 'text', 'the entry')
    }),

    check('writes only over what was expected', async (store) => {
      const wrote = [
        await store.compareAndSet(key, 'other', 1),
        await store.compareAndSet(key, undefined, { version: 1 }),
        await store.compareAndSet(key, undefined, { version: 2 }),
        await store.compareAndSet(key, { version: 1 }, { version: 3 }),
      ]

      demandSame(wrote, [false, true, false, true], 'whether it wrote')
      demandSame(await store.get(key), { version: 3 }, 'the entry')
    }),

    check('lets one of many writers win', async (store) => {
      const wrote = await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.compareAndSet(key, undefined, index)),
      )

      demandSame(wrote.filter(Boolean).length, 1, 'the number of writers that won')
      demandSame(await store.get(key), wrote.indexOf(true), 'the entry')
    }),
  ]
}

function timeChecks(check: Check): readonly ContractCheck[] {
  return [
    check('forgets an entry when its time is over', async (store, advance) => {
      await store.set(key, 1, { ttlMs: 1000 })
      await advance(500)
      const before = await store.get(key)
      await advance(600)

      demandSame([before, await store.get(key)], [1, undefined], 'the entry before and after')
      demand(await store.compareAndSet(key, undefined, 2), 'what is over must count as missing')
    }),

    check('replaces the time with the entry', async (store, advance) => {
      await store.set(key, 1, { ttlMs: 1000 })
      await store.set(key, 2)
      await advance(2000)

      demandSame(await store.get(key), 2, 'an entry that was written again without a time')
    }),

    check('counts on without prolonging the time', async (store, advance) => {
      await store.increment(key, 1, { ttlMs: 1000 })
      await advance(600)
      await store.increment(key, 1, { ttlMs: 1000 })
      await advance(600)

      demandSame(await store.get(key), undefined, 'the entry')
      demandSame(await store.increment(key, 1), 1, 'the sum that begins anew')
    }),
  ]
}

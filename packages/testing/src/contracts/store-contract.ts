import { demand, demandSame } from './contract-assertions.ts'
import type { ContractCheck, ContractSuite } from './contract-suite.ts'
import { contractSuite } from './contract-suite.ts'
import { storeExtensionChecks } from './store-extension-checks.ts'
import { storeFailureChecks } from './store-failure-checks.ts'
import type { StoreCheck, StoreHarness } from './store-harness.ts'
import { contractKey as key } from './store-harness.ts'

/** Options of `storeContract`. */
export interface StoreContractOptions {
  /**
   * Name of the suite.
   * @default 'store contract'
   */
  readonly name?: string | undefined
  /** Creates a store for each check. */
  readonly create: () => StoreHarness | Promise<StoreHarness>
  /** Names of checks to skip. @default none */
  readonly except?: readonly string[] | undefined
}

/**
 * Creates the contract suite for a `KeyValueStore`. Extensions that the store does not have are not
 * checked.
 */
export function storeContract(options: StoreContractOptions): ContractSuite {
  const { name = 'store contract', create, except } = options

  const check: StoreCheck = (title, body, needs): ContractCheck => ({
    name: title,
    run: async () => {
      const harness = await create()
      try {
        if (needs === undefined || needs(harness)) await body(harness.store, harness)
      } finally {
        await harness.close?.()
      }
    },
  })

  return contractSuite(
    name,
    [
      ...entryChecks(check),
      ...stepChecks(check),
      ...timeChecks(check),
      ...storeExtensionChecks(check),
      ...storeFailureChecks(check),
    ],
    except,
  )
}

function entryChecks(check: StoreCheck): readonly ContractCheck[] {
  return [
    check('reads a missing entry as undefined', async (store) => {
      demandSame(await store.get(key), undefined, 'a missing entry')
      await store.delete(key)
    }),

    check('returns any JSON unchanged', async (store) => {
      for (const value of ['', 'grüße 😀', 0, -1.5, false, null, [], {}, [{ a: [1, null] }]]) {
        await store.set(key, value)
        const read = await store.get(key)
        demand(read !== undefined, `${JSON.stringify(value)} must be there`)
        demandSame(read, value, 'what is read')
      }
    }),

    check('stores and returns copies', async (store) => {
      const value = { list: [1] }
      await store.set(key, value)
      value.list.push(2)
      const read = (await store.get(key)) as { list: number[] }
      read.list.push(3)

      demandSame(await store.get(key), { list: [1] }, 'the entry')
    }),

    check('separates keys with any characters', async (store) => {
      const keys = ['a', 'A', 'a:b', 'a b', 'ä/😀', `a${'x'.repeat(200)}`, `a${'x'.repeat(201)}`]
      await Promise.all(keys.map((entry, index) => store.set(`contract:${entry}`, index)))
      const read = await Promise.all(keys.map((entry) => store.get(`contract:${entry}`)))

      demandSame(
        read,
        keys.map((_, index) => index),
        'the entries',
      )
    }),

    check('deletes only the given entry', async (store) => {
      await store.set(key, 1)
      await store.set(`${key}2`, 2)
      await store.delete(key)

      demandSame([await store.get(key), await store.get(`${key}2`)], [undefined, 2], 'the entries')
    }),
  ]
}

function stepChecks(check: StoreCheck): readonly ContractCheck[] {
  return [
    check('replaces only the expected value', async (store) => {
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

    check('replaces any value that it returns', async (store) => {
      for (const value of [
        '',
        1e21,
        1e-7,
        0.1 + 0.2,
        -0,
        'ä"\\\u0000\ud800',
        [{ b: 1, a: null }],
        { __proto__x: 1 },
      ]) {
        await store.set(key, value)
        const read = await store.get(key)
        demand(
          await store.compareAndSet(key, read, 'next'),
          `${JSON.stringify(value)} must equal itself`,
        )
      }
    }),

    check('loses no change of concurrent writers', async (store, { again }) => {
      const other = (await again?.()) ?? store
      const add = async (each: number): Promise<void> => {
        const from = each % 2 === 0 ? store : other
        for (let tries = 0; tries < 200; tries++) {
          const before = await from.get(key)
          const list = (before ?? []) as readonly number[]
          if (await from.compareAndSet(key, before, [...list, each])) return
        }
        demand(false, 'one of 12 writers never got its turn')
      }
      await Promise.all(Array.from({ length: 12 }, (_, each) => add(each)))

      demandSame(((await store.get(key)) as number[]).length, 12, 'the number of changes')
    }),
  ]
}

function timeChecks(check: StoreCheck): readonly ContractCheck[] {
  return [
    check(
      'removes an entry after its time to live',
      async (store, { advance }) => {
        await store.set(key, 1, { ttlMs: 1000 })
        await advance!(500)
        const before = await store.get(key)
        await advance!(600)

        demandSame([before, await store.get(key)], [1, undefined], 'the entry before and after')
        demand(await store.compareAndSet(key, undefined, 2), 'what is over must count as missing')
      },
      hasTime,
    ),

    check(
      'replaces the time to live with the entry',
      async (store, { advance }) => {
        await store.set(key, 1, { ttlMs: 1000 })
        await store.set(key, 2)
        await advance!(2000)

        demandSame(await store.get(key), 2, 'an entry that was written again without a time')
      },
      hasTime,
    ),

    check(
      'ends a lease by itself',
      async (store, { advance }) => {
        const first = await store.compareAndSet(key, undefined, 'a', { ttlMs: 1000 })
        await advance!(600)
        const renewed = await store.compareAndSet(key, 'a', 'a', { ttlMs: 1000 })
        await advance!(600)
        const early = await store.compareAndSet(key, undefined, 'b', { ttlMs: 1000 })
        await advance!(600)
        const late = await store.compareAndSet(key, undefined, 'b', { ttlMs: 1000 })

        demandSame([first, renewed, early, late], [true, true, false, true], 'who got the lease')
      },
      hasTime,
    ),
  ]
}

const hasTime = ({ advance }: StoreHarness): boolean => advance !== undefined

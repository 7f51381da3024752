import { LamellaError } from '@lamella/core'
import { demand, demandSame, rejectionOf, within } from './contract-assertions.ts'
import type { ContractCheck } from './contract-suite.ts'
import type { StoreCheck, StoreHarness } from './store-harness.ts'
import { contractKey as key } from './store-harness.ts'

/** Checks of a store whose database fails. */
export function storeFailureChecks(check: StoreCheck): readonly ContractCheck[] {
  const fails = ({ fail }: StoreHarness): boolean => fail !== undefined
  return [
    check(
      'rejects in time while its database hangs, and works again afterwards',
      (store, harness) => survives(store, harness, 'hang'),
      fails,
    ),

    check(
      'rejects in time while its database is away, and works again afterwards',
      (store, harness) => survives(store, harness, 'refuse'),
      fails,
    ),

    check(
      'rejects in time while its database answers garbage, and works again afterwards',
      (store, harness) => survives(store, harness, 'garbage'),
      fails,
    ),

    check(
      'acts once when a reply is lost',
      async (store, { fail, settleMs = 5000 }) => {
        await store.set(key, 0)
        await fail!('lose-replies')
        const works = [
          store.increment?.(`${key}:sum`, 1) ?? Promise.resolve(),
          store.compareAndSet(`${key}:claim`, undefined, 'mine'),
          store.set(key, 1),
        ]
        const settled = within(settleMs * 2, Promise.allSettled(works), 'a call without a reply')
        await new Promise((resolve) => setTimeout(resolve, 50))
        await fail!('none')
        const [sum, claim] = await settled
        await revived(store, settleMs)

        const total = await store.get(`${key}:sum`)
        demand(
          total === 1 || total === undefined,
          `the sum must be 1 or missing, got ${String(total)}`,
        )
        if (sum?.status === 'fulfilled' && store.increment) demandSame(sum.value, 1, 'the sum')
        if (claim?.status !== 'fulfilled') return
        const isMine = (await store.get(`${key}:claim`)) === 'mine'
        demandSame(claim.value, isMine, 'whether the claim was written')
      },
      fails,
    ),

    check(
      'rejects an entry that it did not write',
      async (store, { corrupt }) => {
        await store.set(key, { fine: true })
        await corrupt!(key)
        const error = await rejectionOf(store.get(key), 'reading garbage')
        demand(LamellaError.is(error, 'store_invalid'), 'the code must be store_invalid')
        await store.set(key, { fine: true })

        demandSame(await store.get(key), { fine: true }, 'the entry that was written over it')
      },
      ({ corrupt }) => corrupt,
    ),
  ]
}

async function survives(
  store: StoreHarness['store'],
  { fail, settleMs = 5000 }: StoreHarness,
  fault: 'hang' | 'refuse' | 'garbage',
): Promise<void> {
  await store.set(key, 1)
  await fail!(fault)
  const works = [store.get(key), store.compareAndSet(`${key}:2`, undefined, 1)]
  const settled = await within(settleMs * 2, Promise.allSettled(works), 'a call of a failed store')
  const statuses = settled.map(({ status }) => status)
  demandSame(statuses, ['rejected', 'rejected'], `what calls come to (${fault})`)
  await fail!('none')
  await revived(store, settleMs)
  demandSame(await store.get(key), 1, 'the entry after it')
}

/** Reconnecting takes a moment. */
async function revived(store: StoreHarness['store'], settleMs: number): Promise<void> {
  const until = Date.now() + settleMs * 4
  for (;;) {
    try {
      await store.get(key)
      return
    } catch (error) {
      if (Date.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

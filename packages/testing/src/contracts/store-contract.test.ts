import type { KeyValueStore } from '@lamella/core'
import { aesCipher, encryptedStore, storeNamespace } from '@lamella/store'
import { memoryStore } from '@lamella/core'
import { describe, expect, it } from 'vitest'
import { describeContract, storeContract, testClock } from '../index.ts'

function create(change: (store: KeyValueStore) => Partial<KeyValueStore> = () => ({})) {
  const clock = testClock()
  const store = memoryStore({ clock })
  return { store: { ...store, ...change(store) }, advance: (ms: number) => clock.advance(ms) }
}

describeContract(storeContract({ name: 'the memory store', create: () => create() }), {
  describe,
  it,
})

describeContract(
  storeContract({
    name: 'a namespace of a store',
    create: () => {
      const { store, advance } = create()
      return { store: storeNamespace(store, { name: 'part', tenant: 'a' }), advance }
    },
  }),
  { describe, it },
)

describeContract(
  storeContract({
    name: 'an encrypted store',
    create: () => {
      const { store, advance } = create()
      const corrupt = (key: string) => store.set(key, 'not encrypted')
      return { store: encryptedStore(store, aesCipher(new Uint8Array(32))), advance, corrupt }
    },
  }),
  { describe, it },
)

describe('the store contract', () => {
  it.for<[string, (store: KeyValueStore) => Partial<KeyValueStore>, string]>([
    [
      'keeps references',
      () => {
        const entries = new Map<string, unknown>()
        return {
          get: async (key) => entries.get(key),
          set: async (key, value) => void entries.set(key, value),
        }
      },
      'stores and returns copies',
    ],
    [
      'adds in two steps',
      (store) => ({
        increment: async (key, by) => {
          const sum = (((await store.get(key)) as number | undefined) ?? 0) + by
          await store.set(key, sum)
          return sum
        },
      }),
      'loses no concurrent addition',
    ],
    [
      'forgets the time to live',
      (store) => ({ set: (key, value) => store.set(key, value) }),
      'removes an entry after its time to live',
    ],
    [
      'writes whatever was expected',
      (store) => ({
        compareAndSet: async (key, _, value) => {
          await store.set(key, value)
          return true
        },
      }),
      'lets one of many writers win',
    ],
  ])('catches a store that %s', async ([, change, name]) => {
    const failed: string[] = []
    for (const check of storeContract({ create: () => create(change) }).checks) {
      await check.run().catch(() => failed.push(check.name))
    }

    expect(failed).toContain(name)
  })
})

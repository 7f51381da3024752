import { describeContract, storeContract } from '@lamella/testing'
import { Keyv } from 'keyv'
import { describe, expect, it, test, vi } from 'vitest'
import { keyvStore } from './keyv-store.ts'

describeContract(
  storeContract({
    name: 'a Keyv in memory',
    create: () => {
      vi.useFakeTimers({ toFake: ['Date'] })
      return {
        store: keyvStore(new Keyv()),
        advance: (ms) => void vi.advanceTimersByTime(ms),
        close: () => void vi.useRealTimers(),
      }
    },
  }),
  { describe, it },
)

describe('keyvStore', () => {
  test('an entry that was not written is an error', async () => {
    const store = keyvStore({
      get: async () => 1,
      set: async () => false,
      delete: async () => true,
    })

    await expect(store.set('key', 1)).rejects.toThrow('not written')
  })

  test('refuses what is no Keyv, and a time to live of 0', async () => {
    expect(() => keyvStore({} as never)).toThrow('`keyv` must be a Keyv')
    await expect(keyvStore(new Keyv()).set('key', 1, { ttlMs: 0 })).rejects.toThrow('`ttlMs`')
  })
})

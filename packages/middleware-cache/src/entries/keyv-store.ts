import type { KeyValueStore, WriteOptions } from '@lamella/core'
import { wrongOption } from '@lamella/core/authoring'
import type { KeyvLike, Swap } from './keyv-like.ts'
import { redisSwap } from './redis-swap.ts'

/**
 * Makes a `KeyValueStore` from a `Keyv`. On Redis (`@keyv/redis`), `increment` and `compareAndSet` are
 * atomic across processes; on other stores, within this process.
 */
export function keyvStore(keyv: KeyvLike): KeyValueStore {
  if (typeof keyv?.get !== 'function' || typeof keyv.set !== 'function') {
    throw wrongOption('keyvStore', 'keyv', 'a Keyv', keyv, true)
  }
  const swap = redisSwap(keyv) ?? plainSwap(keyv)
  const queues = new Map<string, Promise<unknown>>()

  /** Runs the steps on one key one after the other. */
  const inTurn = async <T>(key: string, step: () => Promise<T>): Promise<T> => {
    const turn = (queues.get(key) ?? Promise.resolve()).then(step, step)
    queues.set(key, turn)
    try {
      return await turn
    } finally {
      if (queues.get(key) === turn) queues.delete(key)
    }
  }

  return {
    get: (key) => keyv.get(key),
    async set(key, value, options) {
      const written = await keyv.set(key, value, ttlOf(options))
      if (written === false) throw new Error('keyvStore: the entry was not written')
    },
    async delete(key) {
      await keyv.delete(key)
    },
    increment: (key, by, options) =>
      inTurn(key, async () => {
        for (;;) {
          const { value, replace } = await swap(key)
          if (value !== undefined && typeof value !== 'number') {
            throw wrongOption('keyvStore', 'key', 'that of a number', key)
          }
          const sum = (value ?? 0) + by
          if (!Number.isFinite(sum)) throw wrongOption('keyvStore', 'by', 'a finite number', by)
          if (await replace(sum, ttlOf(options), value !== undefined)) return sum
        }
      }),
    compareAndSet: (key, expected, value, options) =>
      inTurn(key, async () => {
        for (;;) {
          const { value: before, replace } = await swap(key)
          if (JSON.stringify(before) !== JSON.stringify(expected)) return false
          if (await replace(value, ttlOf(options), false)) return true
        }
      }),
  }
}

function plainSwap(keyv: KeyvLike): (key: string) => Promise<Swap> {
  return async (key) => {
    const { value, expires } = await readWithTime(keyv, key)
    return {
      value,
      replace: async (next, ttlMs, keepsTtl) => {
        const left = expires === undefined ? undefined : Math.max(1, expires - Date.now())
        await keyv.set(key, next, keepsTtl ? left : ttlMs)
        return true
      },
    }
  }
}

async function readWithTime(
  keyv: KeyvLike & { getRaw?: (key: string) => Promise<unknown> },
  key: string,
): Promise<{ readonly value?: unknown; readonly expires?: number | undefined }> {
  if (keyv.getRaw === undefined) return { value: await keyv.get(key) }
  return (await keyv.getRaw(key)) ?? {}
}

function ttlOf({ ttlMs }: WriteOptions = {}): number | undefined {
  if (ttlMs !== undefined && !(ttlMs > 0)) throw wrongOption('keyvStore', 'ttlMs', 'above 0', ttlMs)
  return ttlMs === undefined || ttlMs === Infinity ? undefined : Math.ceil(ttlMs)
}

import { checkOptions, wrongOption } from '../base/check-options.ts'
import { memoryLimits } from './store-limits-memory.ts'
import type { StoreLimits } from './store-limits.ts'
import type { StoreLists } from './store-lists.ts'
import { memoryLists } from './store-lists.ts'
import type { StoreSignals } from './store-signals.ts'
import { memorySignals } from './store-signals.ts'

/** Options of a write. */
export interface WriteOptions {
  /** Milliseconds until the entry expires. @default it never expires */
  readonly ttlMs?: number | undefined
}

/**
 * Stores the data of caches, limits, budgets, sessions and approvals. Values are JSON: each read
 * gets a copy of the value that was written. A missing or expired entry reads as `undefined`.
 *
 * `get`, `set`, `delete` and `compareAndSet` are required. `increment`, `limits`, `lists` and
 * `signals` are extensions: a middleware that needs one of the first three throws at construction without it;
 * without signals it reads more often. A lease needs no extension: it is a `compareAndSet` with a `ttlMs`.
 *
 * A method that rejects may have written: the reply can be lost after the write.
 */
export interface KeyValueStore {
  /** Resolves to a copy of the entry, or `undefined`. */
  get(key: string): Promise<unknown>
  /** Replaces the entry and its time to live. */
  set(key: string, value: unknown, options?: WriteOptions): Promise<void>
  /** Removes the entry. A missing entry is no error. */
  delete(key: string): Promise<void>
  /**
   * Atomically replaces the entry and its time to live if the entry equals `expected`; resolves to
   * true if it did. `undefined` expects a missing or expired entry.
   *
   * Values are compared as JSON text, so expect what `get` resolved to, or a value written the same
   * way. Of several writers that expect the same, exactly one gets `true`, unless one of them
   * writes what it expects. After a rejection, read the entry: a unique value, such as your own id,
   * shows if the write happened.
   */
  compareAndSet(
    key: string,
    expected: unknown,
    value: unknown,
    options?: WriteOptions,
  ): Promise<boolean>
  /**
   * Counters. Atomically adds to a number and resolves to the sum; a missing entry counts as 0. Rejects,
   * and changes nothing, where the entry is no number or the sum is not finite.
   * `ttlMs` is the time to live of a new entry: later additions do not extend it.
   */
  increment?(key: string, by: number, options?: WriteOptions): Promise<number>
  /** Sliding windows, token buckets and concurrency, exact across processes. */
  readonly limits?: StoreLimits | undefined
  /** Ordered lists, such as the sessions of a user. */
  readonly lists?: StoreLists | undefined
  /** Notes to other processes that something is new. */
  readonly signals?: StoreSignals | undefined
}

/** A store with all extensions, as `memoryStore()` and the `store-*` packages make it. */
export interface Store extends KeyValueStore {
  /** Counters, as in `KeyValueStore`. */
  increment(key: string, by: number, options?: WriteOptions): Promise<number>
  /** Sliding windows, token buckets and concurrency. */
  readonly limits: StoreLimits
  /** Ordered lists. */
  readonly lists: StoreLists
  /** Resolves if the store answers, and rejects with the reason if it does not. */
  health(): Promise<void>
  /** Ends the connections that the store opened itself. */
  close(): Promise<void>
}

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /**
   * Maximum number of entries, and of lists. Beyond it, the least recently used is dropped.
   * @default 1000
   */
  readonly maxEntries?: number | undefined
  /**
   * Maximum size of all keys and values as JSON, with two bytes per character. Beyond it, the least
   * recently used entries are dropped. A single larger entry is not stored, and drops no other.
   * @default no limit
   */
  readonly maxBytes?: number | undefined
  /** Clock of the store. @default the machine's */
  readonly clock?:
    | {
        /** Returns the time in milliseconds. */
        now(): number
      }
    | undefined
}

interface Entry {
  readonly json: string
  readonly expiresAt: number
}

/**
 * Keeps entries in this process, with all extensions.
 * @example
 * const store = memoryStore({ maxEntries: 10_000 })
 * await store.set('greeting', { text: 'Hello' }, { ttlMs: 60_000 })
 * await store.compareAndSet('claim', undefined, 'worker-1') // true
 * await store.increment('visits', 1) // 1
 * @throws RangeError if `maxEntries` or `maxBytes` is not a whole number from 1 up
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions('memoryStore', options, { maxEntries: 1, maxBytes: 1, clock: 'any' })
  const { maxEntries = 1000, maxBytes = Infinity, clock = Date } = options
  // In order of use, the longest unused first.
  const entries = new Map<string, Entry>()
  let chars = 0

  const remove = (key: string): void => {
    const entry = entries.get(key)
    if (entry === undefined) return
    entries.delete(key)
    chars -= key.length + entry.json.length
  }

  const find = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    if (entry === undefined) return undefined
    if (entry.expiresAt <= clock.now()) {
      remove(key)
      return undefined
    }
    entries.delete(key)
    entries.set(key, entry)
    return entry
  }

  const put = (key: string, value: unknown, expiresAt: number): void => {
    const json = toJson(value)
    if (json === undefined) throw wrongOption('memoryStore', 'value', 'JSON', value)
    remove(key)
    if ((key.length + json.length) * 2 > maxBytes) return
    entries.set(key, { json, expiresAt })
    chars += key.length + json.length
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries && chars * 2 <= maxBytes) break
      remove(oldest)
    }
  }

  const expiry = ({ ttlMs = Infinity }: WriteOptions = {}): number => {
    if (!(ttlMs > 0)) throw wrongOption('memoryStore', 'ttlMs', 'above 0', ttlMs)
    return clock.now() + ttlMs
  }

  return {
    async get(key) {
      const entry = find(key)
      return entry && JSON.parse(entry.json)
    },
    async set(key, value, written) {
      put(key, value, expiry(written))
    },
    async delete(key) {
      remove(key)
    },
    async increment(key, by, written) {
      const expiresAt = expiry(written)
      const entry = find(key)
      const before: unknown = entry ? JSON.parse(entry.json) : 0
      if (typeof before !== 'number') {
        throw wrongOption('memoryStore', 'key', 'that of a number', key)
      }
      const sum = before + by
      if (!Number.isFinite(sum)) {
        throw wrongOption('memoryStore', 'by', 'a finite number', by)
      }
      put(key, sum, entry?.expiresAt ?? expiresAt)
      return sum
    },
    async compareAndSet(key, expected, value, written) {
      const expiresAt = expiry(written)
      if (find(key)?.json !== toJson(expected)) return false
      put(key, value, expiresAt)
      return true
    },
    limits: memoryLimits({ clock }),
    lists: memoryLists({ maxLists: maxEntries, clock }),
    signals: memorySignals(),
    async health() {},
    async close() {},
  }
}

// Typed as if it always gave a string, which it does not for `undefined` and functions.
const toJson = JSON.stringify as (value: unknown) => string | undefined

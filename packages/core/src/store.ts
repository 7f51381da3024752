import { checkOptions, wrongOption } from './check-options.ts'
import { LamellaError } from './lamella-error.ts'
import type { SessionSnapshot } from './session.ts'

/** How an entry is written. */
export interface WriteOptions {
  /** Milliseconds after which the entry is gone. @default it stays */
  readonly ttlMs?: number | undefined
}

/**
 * What caches, limiters, budgets and sessions keep their data in. Values are JSON: what is read is
 * a copy of what was written. An entry that is missing or has expired reads as `undefined`.
 */
export interface KeyValueStore {
  get(key: string): Promise<unknown>
  /** Replaces the entry, and its time to live. */
  set(key: string, value: unknown, options?: WriteOptions): Promise<void>
  delete(key: string): Promise<void>
  /**
   * Adds to a number in one step and resolves to the sum; a missing entry counts as 0. `ttlMs` is
   * that of a new entry: counting on does not prolong it.
   */
  increment(key: string, by: number, options?: WriteOptions): Promise<number>
  /**
   * Writes in one step only if the entry is `expected`, as JSON; `undefined` expects none. Resolves
   * to whether it wrote.
   */
  compareAndSet(
    key: string,
    expected: unknown,
    value: unknown,
    options?: WriteOptions,
  ): Promise<boolean>
}

export interface MemoryStoreOptions {
  /**
   * Beyond it, the entry that was not used for the longest time goes.
   * @default 1000
   */
  readonly maxEntries?: number | undefined
  /**
   * Of all keys and values as JSON, two bytes a character. Beyond it, entries go as above; one that
   * alone is larger is not kept, and drives out no other.
   * @default no limit
   */
  readonly maxBytes?: number | undefined
  /** Tells the time in milliseconds. @default the system's clock */
  readonly clock?: { now(): number } | undefined
}

interface Entry {
  readonly json: string
  readonly expiresAt: number
}

/**
 * Keeps entries in this process.
 * @throws RangeError if `maxEntries` or `maxBytes` is not a whole number from 1 up
 */
export function memoryStore(options: MemoryStoreOptions = {}): KeyValueStore {
  const { maxEntries = 1000, maxBytes = Infinity, clock = Date } = options
  checkOptions('memoryStore', options, { maxEntries: 1, maxBytes: 1, clock: 'any' })
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
  }
}

/** Where conversations are kept between runs. */
export interface SessionStore {
  load(id: string): Promise<SessionSnapshot | undefined>
  save(snapshot: SessionSnapshot): Promise<void>
  delete(id: string): Promise<void>
}

export interface SessionStoreOptions extends WriteOptions {
  /**
   * Stands before a session's id in its key.
   * @default 'session:'
   */
  readonly prefix?: string | undefined
}

/** What sessions need of a store, in the words of Keyv: each of its adapters will do. */
export interface KeyvLike {
  get(key: string): Promise<unknown>
  set(key: string, value: unknown, ttlMs?: number): Promise<unknown>
  delete(key: string): Promise<unknown>
}

/**
 * Keeps sessions in any key-value store, or in any store of Keyv. A `ttlMs` counts from the last `save`.
 */
export function sessionStore(
  store: KeyValueStore | KeyvLike,
  options: SessionStoreOptions = {},
): SessionStore {
  checkOptions('sessionStore', options, { prefix: 'any', ttlMs: 'any' })
  const { prefix = 'session:', ttlMs } = options
  return {
    async load(id) {
      const snapshot = (await store.get(prefix + id)) as SessionSnapshot | undefined
      if (snapshot === undefined) return undefined
      if (snapshot?.version !== 1 || snapshot.id !== id || !Array.isArray(snapshot.messages)) {
        throw new LamellaError(`sessionStore: the entry of "${id}" is no session of version 1`, {
          code: 'session_invalid',
        })
      }
      return snapshot
    },
    async save(snapshot) {
      const key = prefix + snapshot.id
      await ('increment' in store
        ? store.set(key, snapshot, { ttlMs })
        : store.set(key, snapshot, ttlMs))
    },
    async delete(id) {
      await store.delete(prefix + id)
    },
  }
}

// Typed as if it always gave a string, which it does not for `undefined` and functions.
const toJson = JSON.stringify as (value: unknown) => string | undefined

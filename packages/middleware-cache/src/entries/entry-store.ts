import type { KeyValueStore } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { within } from './within.ts'

/** A stored answer, as JSON. */
export interface CacheEntry<Value> {
  readonly version: 1
  /** Time of storing, in milliseconds of the clock. */
  readonly storedAt: number
  /** Milliseconds for which it answers. */
  readonly ttlMs: number
  readonly value: Value
  /** Question that it answers, for a semantic cache. */
  readonly question?: string | undefined
}

/** Converts entries to the text in the store and back, for example to encrypt or compress them. */
export interface CacheCodec {
  /** Returns the text to store. */
  encode(json: string): string | Promise<string>
  /** Returns the JSON of a stored text. If it throws, the entry counts as missing. */
  decode(text: string): string | Promise<string>
}

/** Settings of an `EntryStore`. */
export interface EntryStoreOptions<Value> {
  readonly store: KeyValueStore
  readonly codec: CacheCodec | undefined
  readonly clock: Clock
  /** Time limit for one operation of the store, in milliseconds. */
  readonly timeoutMs: number
  /** Tells whether a value that was read is one that this package wrote. */
  readonly isValue: (value: unknown) => value is Value
}

/** Reads and writes entries in a store that may be slow, unavailable or shared. */
export class EntryStore<Value> {
  readonly #options: EntryStoreOptions<Value>

  constructor(options: EntryStoreOptions<Value>) {
    this.#options = options
  }

  /**
   * Returns `undefined` for a missing entry and for one in another format. Rejects when the store or the
   * codec fails.
   */
  async read(key: string, signal?: AbortSignal): Promise<CacheEntry<Value> | undefined> {
    const { store, codec, isValue } = this.#options
    const found = await this.within(store.get(key), signal)
    if (found === undefined) return undefined
    const decoded: unknown =
      codec === undefined ? found : JSON.parse(await codec.decode(found as string))
    const entry = decoded as CacheEntry<Value> | null
    const isEntry =
      entry?.version === 1 &&
      typeof entry.storedAt === 'number' &&
      typeof entry.ttlMs === 'number' &&
      isValue(entry.value)
    return isEntry ? entry : undefined
  }

  /** Stores an entry. `keepMs` may be longer than its `ttlMs`. */
  async write(key: string, entry: CacheEntry<Value>, keepMs: number): Promise<void> {
    const { store, codec } = this.#options
    const written = codec === undefined ? entry : await codec.encode(JSON.stringify(entry))
    await this.within(store.set(key, written, { ttlMs: keepMs }))
  }

  async remove(key: string): Promise<void> {
    await this.within(this.#options.store.delete(key))
  }

  /** Waits for an operation of the store, up to the time limit. */
  within<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
    const { clock, timeoutMs } = this.#options
    return timeoutMs === Infinity ? work : within(work, { clock, timeoutMs, signal })
  }
}

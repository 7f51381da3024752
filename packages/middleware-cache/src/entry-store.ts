import type { KeyValueStore } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { within } from './within.ts'

/** What is kept of a call. JSON. */
export interface CacheEntry<Value> {
  readonly version: 1
  /** Of the clock. */
  readonly storedAt: number
  /** How long it answers. */
  readonly ttlMs: number
  readonly value: Value
  /** The question, where answers are also found by meaning. */
  readonly question?: string | undefined
}

/** Turns entries into what the store keeps and back: encrypts them, or compresses them. */
export interface CacheCodec {
  encode(json: string): string | Promise<string>
  /** Throws what it cannot read; such an entry counts as missing. */
  decode(text: string): string | Promise<string>
}

export interface EntryStoreOptions<Value> {
  readonly store: KeyValueStore
  readonly codec: CacheCodec | undefined
  readonly clock: Clock
  /** For one operation of the store. */
  readonly timeoutMs: number
  /** Whether what was read is what this package wrote. */
  readonly isValue: (value: unknown) => value is Value
}

/** Keeps entries in a store that may be slow, gone, or shared with others. */
export class EntryStore<Value> {
  readonly #options: EntryStoreOptions<Value>

  constructor(options: EntryStoreOptions<Value>) {
    this.#options = options
  }

  /** A missing entry, and one of another form, is none. Rejects when the store or the codec fails. */
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

  /** `keepMs` may be longer than the entry answers. */
  async write(key: string, entry: CacheEntry<Value>, keepMs: number): Promise<void> {
    const { store, codec } = this.#options
    const written = codec === undefined ? entry : await codec.encode(JSON.stringify(entry))
    await this.within(store.set(key, written, { ttlMs: keepMs }))
  }

  async remove(key: string): Promise<void> {
    await this.within(this.#options.store.delete(key))
  }

  ageMs({ storedAt }: Pick<CacheEntry<Value>, 'storedAt'>): number {
    // The clock of another machine may be ahead of this one.
    return Math.max(0, this.#options.clock.now() - storedAt)
  }

  /** Waits for an operation of the store. */
  within<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
    const { clock, timeoutMs } = this.#options
    return timeoutMs === Infinity ? work : within(work, { clock, timeoutMs, signal })
  }
}

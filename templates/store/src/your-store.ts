import type { KeyValueStore, WriteOptions } from '@lamella/core'

/** The operations that the store needs from your database. `memoryDatabase` is an example; replace it. */
export interface YourDatabase {
  read(key: string): Promise<{ readonly json: string; readonly expiresAt: number } | undefined>
  /** Runs `work` exclusively: nobody else writes this entry until it is done. */
  alone<Value>(key: string, work: () => Promise<Value>): Promise<Value>
  write(key: string, entry: { readonly json: string; readonly expiresAt: number }): Promise<void>
  remove(key: string): Promise<void>
}

export interface YourStoreOptions {
  readonly database: YourDatabase
  /** Source of time in milliseconds. @default the machine's clock */
  readonly clock?: { now(): number } | undefined
}

/** Stores entries in your database. */
export function yourStore({ database, clock = Date }: YourStoreOptions): KeyValueStore {
  const find = async (key: string) => {
    const entry = await database.read(key)
    return entry === undefined || entry.expiresAt <= clock.now() ? undefined : entry
  }
  const put = async (key: string, value: unknown, expiresAt: number): Promise<void> => {
    const json = JSON.stringify(value) as string | undefined
    if (json === undefined) await database.remove(key)
    else await database.write(key, { json, expiresAt })
  }
  const expiry = ({ ttlMs = Infinity }: WriteOptions = {}): number => clock.now() + ttlMs

  return {
    async get(key) {
      const entry = await find(key)
      return entry === undefined ? undefined : (JSON.parse(entry.json) as unknown)
    },
    set: (key, value, options) => put(key, value, expiry(options)),
    delete: (key) => database.remove(key),
    increment: (key, by, options) =>
      database.alone(key, async () => {
        const entry = await find(key)
        const before: unknown = entry === undefined ? 0 : JSON.parse(entry.json)
        if (typeof before !== 'number') {
          throw new TypeError(`yourStore: \`key\` must be that of a number, got ${key}`)
        }
        const sum = before + by
        if (!Number.isFinite(sum)) {
          throw new RangeError(`yourStore: \`by\` must be a finite number, got ${by}`)
        }
        // An increment does not extend the lifetime of an entry.
        await put(key, sum, entry?.expiresAt ?? expiry(options))
        return sum
      }),
    compareAndSet: (key, expected, value, options) =>
      database.alone(key, async () => {
        const entry = await find(key)
        if (entry?.json !== (JSON.stringify(expected) as string | undefined)) return false
        await put(key, value, expiry(options))
        return true
      }),
  }
}

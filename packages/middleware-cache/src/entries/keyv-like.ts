/** The part of a `Keyv` (https://keyv.org, versions 5 and 6) that this package uses. */
export interface KeyvLike {
  /** Reads an entry; `undefined` if there is none. */
  get(key: string): Promise<unknown>
  /** Writes an entry, for `ttl` milliseconds if given. */
  set(key: string, value: unknown, ttl?: number): Promise<unknown>
  /** Removes an entry. */
  delete(key: string): Promise<unknown>
  /** Adapter of the storage, such as the one of `@keyv/redis`. */
  readonly store?: unknown
}

/** Current state of an entry, and a way to replace it if it is unchanged. */
export interface Swap {
  readonly value: unknown
  /** Resolves to true if the entry was unchanged and is replaced. */
  readonly replace: (
    value: unknown,
    ttlMs: number | undefined,
    keepsTtl: boolean,
  ) => Promise<boolean>
}

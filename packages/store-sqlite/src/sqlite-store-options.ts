/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /**
   * Begins all keys, so that several applications share a file.
   * @default 'lamella'
   */
  readonly namespace?: string | undefined
  /**
   * Largest value as JSON, in bytes. A larger one is rejected with `store_limit`.
   * @default 16777216
   */
  readonly maxValueBytes?: number | undefined
  /**
   * Milliseconds to wait while another process writes. SQLite waits synchronously.
   * @default 5000
   */
  readonly busyTimeoutMs?: number | undefined
  /**
   * `normal` survives the end of a process, `full` also a loss of power, at the price of a flush to disk
   * for each write.
   * @default 'normal'
   */
  readonly synchronous?: 'normal' | 'full' | undefined
  /**
   * Milliseconds after which the concurrency of a process that has died is free again.
   * @default 30000
   */
  readonly leaseMs?: number | undefined
  /**
   * Milliseconds between two looks for what other processes returned to a limit.
   * @default 100
   */
  readonly pollMs?: number | undefined
  /** Tells the time. @default the clock of this machine */
  readonly clock?:
    | {
        /** Returns the time in milliseconds since 1970. */
        now(): number
      }
    | undefined
}

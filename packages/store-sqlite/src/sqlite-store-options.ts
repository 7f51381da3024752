/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /**
   * Prefix of all keys, so that several applications can share a file.
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
   * `normal` survives a crash of the process; `full` also survives a power failure, but flushes
   * each write to disk.
   * @default 'normal'
   */
  readonly synchronous?: 'normal' | 'full' | undefined
  /**
   * Milliseconds after which the concurrency slots of a dead process are released.
   * @default 30000
   */
  readonly leaseMs?: number | undefined
  /**
   * Milliseconds between two checks for capacity that other processes released.
   * @default 100
   */
  readonly pollMs?: number | undefined
  /** Source of time. @default the clock of this machine */
  readonly clock?:
    | {
        /** Returns the time in milliseconds since 1970. */
        now(): number
      }
    | undefined
}

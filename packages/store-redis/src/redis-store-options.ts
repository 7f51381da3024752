/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /**
   * Prefix of all keys. All of them are in one slot of a cluster.
   * @default 'lamella'
   */
  readonly namespace?: string | undefined
  /**
   * Largest value as JSON, in bytes. A larger one is rejected with `store_limit`.
   * @default 16777216
   */
  readonly maxValueBytes?: number | undefined
  /**
   * Milliseconds to wait for an answer of Redis; then the call is rejected with `store_timeout`.
   * @default 5000
   */
  readonly timeoutMs?: number | undefined
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
  /** Source of time for limits. @default the clock of Redis, which all processes share */
  readonly clock?:
    | {
        /** Returns the time in milliseconds since 1970. */
        now(): number
      }
    | undefined
}

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /**
   * Begins all keys. All of them are in one slot of a cluster.
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
   * Milliseconds after which the concurrency of a process that has died is free again.
   * @default 30000
   */
  readonly leaseMs?: number | undefined
  /**
   * Milliseconds between two looks for what other processes returned to a limit.
   * @default 100
   */
  readonly pollMs?: number | undefined
  /** Tells the time of limits. @default the clock of Redis, which all processes share */
  readonly clock?:
    | {
        /** Returns the time in milliseconds since 1970. */
        now(): number
      }
    | undefined
}

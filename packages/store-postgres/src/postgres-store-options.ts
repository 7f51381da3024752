/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /**
   * Begins all keys, so that several applications share the tables.
   * @default 'lamella'
   */
  readonly namespace?: string | undefined
  /**
   * Schema of the tables.
   * @default 'public'
   */
  readonly schema?: string | undefined
  /**
   * Makes the tables at the first use. Pass `false` where another user runs `postgresMigration()`.
   * @default true
   */
  readonly migrate?: boolean | undefined
  /**
   * Connections of a pool that the store makes from a URL.
   * @default 10
   */
  readonly maxConnections?: number | undefined
  /**
   * Largest value as JSON, in bytes. A larger one is rejected with `store_limit`.
   * @default 16777216
   */
  readonly maxValueBytes?: number | undefined
  /**
   * Milliseconds to wait for an answer of the database; then the call is rejected with `store_timeout`.
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
  /** Tells the time. @default the clock of the database, which all processes share */
  readonly clock?:
    | {
        /** Returns the time in milliseconds since 1970. */
        now(): number
      }
    | undefined
}

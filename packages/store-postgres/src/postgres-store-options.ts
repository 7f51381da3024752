/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /**
   * Prefix of all keys, so that several applications can share the tables.
   * @default 'lamella'
   */
  readonly namespace?: string | undefined
  /**
   * Schema of the tables.
   * @default 'public'
   */
  readonly schema?: string | undefined
  /**
   * Creates the tables at the first use. Pass `false` if you run `postgresMigration()` yourself.
   * @default true
   */
  readonly migrate?: boolean | undefined
  /**
   * Maximum connections of a pool that the store creates from a URL.
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
   * Milliseconds after which the concurrency slots of a dead process are released.
   * @default 30000
   */
  readonly leaseMs?: number | undefined
  /**
   * Milliseconds between two checks for capacity that other processes released.
   * @default 100
   */
  readonly pollMs?: number | undefined
  /** Source of time. @default the clock of the database, which all processes share */
  readonly clock?:
    | {
        /** Returns the time in milliseconds since 1970. */
        now(): number
      }
    | undefined
}

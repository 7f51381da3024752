import type { Clock } from '../base/timers.ts'
import type { Schema } from '../base/standard-schema.ts'
import type { KeyValueStore } from '../store/store.ts'
import type { Session } from '../messages/session.ts'

/** Options of `defineState`. */
export interface StateOptions<T> {
  /** Name of the cell, unique in a run. */
  readonly name: string
  /** Returns the value that a run begins with. */
  readonly initial: () => T
  /**
   * Schema of the value. With a schema, the value is JSON that fits it, and is stored in
   * checkpoints. The stored value is the output of the schema, so the schema must accept its own
   * output. It must not be async.
   */
  readonly schema?: Schema<T> | undefined
  /**
   * Lifetime of the value: one run, the run's session (in `session.state`; without a session, the
   * run), or the tenant (in the agent's `store`). The latter two need a schema.
   * @default 'run'
   */
  readonly scope?: 'run' | 'session' | 'tenant' | undefined
  /**
   * Version of the schema: increase it when old values no longer fit.
   * @default 1
   */
  readonly version?: number | undefined
  /**
   * Converts a value of an earlier version to this version.
   * @default the value is reset to
   * `initial`
   */
  readonly migrate?: ((value: unknown, version: number) => T) | undefined
}

/** A cell of state: each run has its own value. */
export interface StateCell<T> extends Readonly<StateOptions<T>> {
  /** Finds or makes the cell's place among those of a run. A run without cells ships no checks. */
  readonly '~slot': (slots: Slots, session: Session | undefined) => Slot
  /** @internal The value of a tenant. */
  readonly '~shared': (around: StateSurroundings) => SharedValue<T>
}

/** The values of one run, by cell. */
export interface RunState {
  /** Returns the current value of a cell of scope `run` or `session`. */
  get<T>(cell: StateCell<T>): T
  /**
   * Replaces the value at once and returns the new one.
   * @throws LamellaError `schema_invalid` if it does not fit the cell's schema or is not JSON
   */
  update<T>(cell: StateCell<T>, updater: (value: T) => T): T
  /**
   * Combines several updates: if `work` throws, none takes effect. It is synchronous, so no other
   * code runs in between.
   * @throws TypeError if `work` is async; then its updates so far are reverted
   */
  batch<Result>(work: () => Result): Result
  /**
   * Resolves to the value of a cell of any scope; only the value of a tenant requires a wait.
   * @throws LamellaError `store_timeout` if the store does not answer in time, `state_scope` without a `tenant` of the run or a `store` of the agent
   */
  load<T>(cell: StateCell<T>): Promise<T>
  /**
   * Replaces the value of a cell of any scope. The value of a tenant is replaced atomically for all
   * processes: `updater` may be called again if another process was faster.
   */
  change<T>(cell: StateCell<T>, updater: (value: T) => T): Promise<T>
  /** Returns the values of cells of the run with a schema, as JSON, by name. */
  snapshot(): Record<string, unknown>
  /** Replaces all values with those of a snapshot. Each is validated when it is read. */
  restore(snapshot: Readonly<Record<string, unknown>>): void
}

/** A value that all runs of a tenant share. */
export interface SharedValue<T> {
  load(): Promise<T>
  change(updater: (value: T) => T): Promise<T>
}

/** Data outside a run that its state cells use. */
export interface StateSurroundings {
  /** Measures time limits. */
  readonly clock?: Clock | undefined
  readonly session: Session | undefined
  readonly tenant: string | undefined
  readonly store: KeyValueStore | undefined
  /** Milliseconds to wait for the store. @default 5000 */
  readonly storeTimeoutMs?: number | undefined
  /** Ends the wait for the store. @default never */
  readonly signal?: AbortSignal | undefined
  /** Requested stop of the run. */
  stopped?: unknown
}

/** A run's value of a cell, or of a snapshot entry whose cell has not been used yet. */
export interface Slot {
  readonly cell?: StateCell<unknown>
  value: unknown
  /** Validates a new value and returns the one to keep. */
  readonly check?: (value: unknown) => unknown
  /** The value for a snapshot, if it goes into one. */
  readonly save?: (() => unknown) | undefined
}

export type Slots = Map<string, Slot>

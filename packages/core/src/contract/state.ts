import type { Schema } from '../base/standard-schema.ts'
import type { KeyValueStore } from '../store/store.ts'
import type { Session } from '../messages/session.ts'

/** Options of `defineState`. */
export interface StateOptions<T> {
  /** Unique in a run. */
  readonly name: string
  /** Makes the value that a run begins with. */
  readonly initial: () => T
  /**
   * With one, the value is JSON that fits it, and goes into checkpoints. What is kept is what the
   * schema makes of a value, so it must accept its own output. It must not be async.
   */
  readonly schema?: Schema<T> | undefined
  /**
   * Lifetime of the value: one run, the run's session (in `session.state`; without a session, the
   * run), or the tenant (in the agent's `store`). The latter two need a schema.
   * @default 'run'
   */
  readonly scope?: 'run' | 'session' | 'tenant' | undefined
  /**
   * A whole number that goes up when the schema changes in a way that old values do not fit.
   * @default 1
   */
  readonly version?: number | undefined
  /**
   * Makes a value of this version from one of an earlier one.
   * @default the value is reset to `initial`
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
   * Does several updates as one: if `work` throws, none has happened. It is synchronous, so nothing
   * comes in between.
   */
  batch<Result>(work: () => Result): Result
  /**
   * The value of a cell of any scope; only that of a tenant makes it wait.
   * @throws LamellaError `store_timeout` if the store does not answer in time, `state_scope` without a `tenant` of the run or a `store` of the agent
   */
  load<T>(cell: StateCell<T>): Promise<T>
  /**
   * Replaces the value of a cell of any scope. That of a tenant is replaced in one step for all
   * processes: `updater` may be called again when another one was faster.
   */
  change<T>(cell: StateCell<T>, updater: (value: T) => T): Promise<T>
  /** The values of cells of the run with a schema, as JSON, by name. */
  snapshot(): Record<string, unknown>
  /** Replaces all values with those of a snapshot. Each is validated when it is read. */
  restore(snapshot: Readonly<Record<string, unknown>>): void
}

/** A value that all runs of a tenant have in common. */
export interface SharedValue<T> {
  load(): Promise<T>
  change(updater: (value: T) => T): Promise<T>
}

/** Data outside a run that its state cells use. */
export interface StateSurroundings {
  readonly session: Session | undefined
  readonly tenant: string | undefined
  readonly store: KeyValueStore | undefined
  /** Milliseconds to wait for the store. @default 5000 */
  readonly storeTimeoutMs?: number | undefined
  /** Ends the wait for the store. @default never */
  readonly signal?: AbortSignal | undefined
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

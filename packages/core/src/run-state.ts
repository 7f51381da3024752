import type { Slots, Slot, StateCell, StateSurroundings } from './define-state.ts'

/** The values of one run, by cell. */
export interface RunState {
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
   * @throws LamellaError `state_scope` without a `tenant` of the run or a `stateStore` of the agent
   */
  load<T>(cell: StateCell<T>): Promise<T>
  /**
   * Replaces the value of a cell of any scope. That of a tenant is replaced in one step for all
   * processes: `updater` may be called again when another one was faster.
   */
  change<T>(cell: StateCell<T>, updater: (value: T) => T): Promise<T>
  /** The values of cells of the run with a schema, as JSON, by name. */
  snapshot(): Record<string, unknown>
  /** Puts the values of a snapshot in the place of all there are. Each is checked when it is read. */
  restore(snapshot: Readonly<Record<string, unknown>>): void
}

/** The state of one run. */
export class StateCells implements RunState {
  #slots: Slots = new Map()
  readonly #around: StateSurroundings

  constructor(around: StateSurroundings = nowhere) {
    this.#around = around
  }

  get<T>(cell: StateCell<T>): T {
    return this.#slot(cell).value as T
  }

  update<T>(cell: StateCell<T>, updater: (value: T) => T): T {
    const slot = this.#slot(cell)
    slot.value = slot.check!(updater(slot.value as T))
    return slot.value as T
  }

  batch<Result>(work: () => Result): Result {
    const before = [...this.#slots].map(([name, slot]) => ({ name, slot, value: slot.value }))
    try {
      return work()
    } catch (error) {
      this.#slots = new Map(before.map(({ name, slot }) => [name, slot]))
      for (const { slot, value } of before) slot.value = value
      throw error
    }
  }

  async load<T>(cell: StateCell<T>): Promise<T> {
    return cell.scope === 'tenant' ? cell['~shared'](this.#around).load() : this.get(cell)
  }

  async change<T>(cell: StateCell<T>, updater: (value: T) => T): Promise<T> {
    return cell.scope === 'tenant'
      ? cell['~shared'](this.#around).change(updater)
      : this.update(cell, updater)
  }

  snapshot(): Record<string, unknown> {
    const saved = [...this.#slots].filter(([, { save }]) => save)
    return Object.fromEntries(saved.map(([name, { save }]) => [name, save!()]))
  }

  restore(snapshot: Readonly<Record<string, unknown>>): void {
    this.#slots = new Map(
      Object.entries(snapshot).map(([name, value]) => [name, { value, save: () => value }]),
    )
  }

  #slot<T>(cell: StateCell<T>): Slot {
    return cell['~slot'](this.#slots, this.#around.session)
  }
}

const nowhere: StateSurroundings = { session: undefined, tenant: undefined, stateStore: undefined }

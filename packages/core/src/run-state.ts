import { LamellaError } from './lamella-error.ts'
import type { Schema } from './standard-schema.ts'
import { validate } from './validate.ts'

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
}

/** A value that each run has one of. */
export type StateCell<T> = Readonly<StateOptions<T>>

/** The values of one run, by cell. */
export interface RunState {
  get<T>(cell: StateCell<T>): T
  /**
   * Replaces the value at once and returns the new one.
   * @throws LamellaError `schema_invalid` if it does not fit the cell's schema or is not JSON
   */
  update<T>(cell: StateCell<T>, updater: (value: T) => T): T
  /** The values of cells with a schema, as JSON, by name. */
  snapshot(): Record<string, unknown>
  /** Puts the values of a snapshot in the place of all there are. Each is checked when it is read. */
  restore(snapshot: Readonly<Record<string, unknown>>): void
}

/**
 * Defines a value that each run has one of. Keep the cell: two definitions of one name clash.
 * @throws TypeError that names the option
 */
export function defineState<T>(options: StateOptions<T>): StateCell<T> {
  const { name, initial, schema } = options
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(
      `defineState: \`name\` must be a string that is not empty, got ${String(name)}`,
    )
  }
  if (typeof initial !== 'function') {
    throw new TypeError(
      `defineState: \`initial\` of "${name}" must be a function, got ${typeof initial}`,
    )
  }
  return Object.freeze({ name, initial, schema })
}

interface Slot {
  readonly cell: StateCell<unknown>
  value: unknown
}

/** The state of one run. Nothing is allocated before it is used. */
export class StateCells implements RunState {
  #slots: Map<string, Slot> | undefined
  /** Values of a snapshot whose cells nobody has asked for yet. */
  #restored: Map<string, unknown> | undefined

  get<T>(cell: StateCell<T>): T {
    return this.#slot(cell).value as T
  }

  update<T>(cell: StateCell<T>, updater: (value: T) => T): T {
    const slot = this.#slot(cell)
    const value = check(cell, updater(slot.value as T))
    slot.value = value
    return value as T
  }

  snapshot(): Record<string, unknown> {
    const values = new Map(this.#restored)
    for (const [name, { cell, value }] of this.#slots ?? []) {
      if (cell.schema === undefined) continue
      // It may have been changed in place since it was set.
      checkJson(cell, value)
      values.set(name, JSON.parse(JSON.stringify(value)))
    }
    return Object.fromEntries(values)
  }

  restore(snapshot: Readonly<Record<string, unknown>>): void {
    this.#slots = undefined
    this.#restored = new Map(Object.entries(snapshot))
  }

  #slot<T>(cell: StateCell<T>): Slot {
    const { name } = cell
    const slots = (this.#slots ??= new Map())
    const known = slots.get(name)
    if (known !== undefined) {
      if (known.cell === cell) return known
      throw new LamellaError(
        `state "${name}" is defined twice in this run; give each cell its own name`,
        {
          code: 'state_conflict',
        },
      )
    }
    const restored = cell.schema !== undefined && this.#restored?.has(name) === true
    const value = check(cell, restored ? this.#restored?.get(name) : cell.initial())
    this.#restored?.delete(name)
    const slot: Slot = { cell, value }
    slots.set(name, slot)
    return slot
  }
}

/** What the schema makes of a value. Messages name the cell and never the value. */
function check<T>(cell: StateCell<T>, value: unknown): unknown {
  if (cell.schema === undefined) return value
  checkJson(cell, value)
  const result = validate(cell.schema, value)
  if ('then' in result) {
    result.then(undefined, () => {})
    throw invalid(cell, 'has an async schema; state is set synchronously')
  }
  if (result.issues !== undefined) throw invalid(cell, 'got a value that does not fit its schema')
  return result.value
}

function checkJson(cell: StateCell<unknown>, value: unknown): void {
  if (!isJson(value, [])) throw invalid(cell, 'got a value that is not JSON')
}

function invalid(cell: StateCell<unknown>, problem: string): LamellaError {
  return new LamellaError(`state "${cell.name}" ${problem}`, { code: 'schema_invalid' })
}

function isJson(value: unknown, parents: readonly object[]): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || parents.includes(value)) return false
  const inside = [...parents, value]
  if (Array.isArray(value)) return Array.from(value).every((entry) => isJson(entry, inside))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return false
  return Object.values(value).every((entry) => entry === undefined || isJson(entry, inside))
}

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
export interface StateCell<T> extends Readonly<StateOptions<T>> {
  /** Finds or makes the cell's place among those of a run. A run without cells ships no checks. */
  readonly '~slot': (slots: Slots) => Slot
}

/** Where a run keeps the value of a cell, or of a snapshot whose cell nobody has asked for yet. */
interface Slot {
  readonly cell?: StateCell<unknown>
  value: unknown
  /** What becomes of a new value. */
  readonly check?: (value: unknown) => unknown
  /** The value for a snapshot, if it goes into one. */
  readonly save?: (() => unknown) | undefined
}

type Slots = Map<string, Slot>

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
    throw new TypeError(`defineState: \`name\` must be a string that is not empty, got ${name}`)
  }
  if (typeof initial !== 'function') {
    throw new TypeError(
      `defineState: \`initial\` of "${name}" must be a function, got ${typeof initial}`,
    )
  }
  const cell: StateCell<T> = { name, initial, schema, '~slot': (slots) => slotOf(cell, slots) }
  return Object.freeze(cell)
}

function slotOf<T>(cell: StateCell<T>, slots: Slots): Slot {
  const { name, schema } = cell
  const known = slots.get(name)
  if (known?.cell === cell) return known
  if (known?.cell !== undefined) {
    throw new LamellaError(
      `state "${name}" is defined twice in this run; give each cell its own name`,
      { code: 'state_conflict' },
    )
  }
  const restored = known !== undefined && schema !== undefined
  const slot: Slot = {
    cell,
    value: check(cell, restored ? known.value : cell.initial()),
    check: (value) => check(cell, value),
    save: schema && (() => copy(cell, slot.value)),
  }
  slots.set(name, slot)
  return slot
}

/** The state of one run. */
export class StateCells implements RunState {
  #slots: Slots = new Map()

  get<T>(cell: StateCell<T>): T {
    return cell['~slot'](this.#slots).value as T
  }

  update<T>(cell: StateCell<T>, updater: (value: T) => T): T {
    const slot = cell['~slot'](this.#slots)
    slot.value = slot.check!(updater(slot.value as T))
    return slot.value as T
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
}

/** As JSON: it may have been changed in place since it was set. */
function copy(cell: StateCell<unknown>, value: unknown): unknown {
  checkJson(cell, value)
  return JSON.parse(JSON.stringify(value))
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

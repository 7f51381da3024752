import { checkOptions } from './check-options.ts'
import { isObject } from './is-object.ts'
import { LamellaError } from './lamella-error.ts'
import type { Session } from './session.ts'
import type { Schema } from './standard-schema.ts'
import type { KeyValueStore } from './store.ts'
import { validateNow } from './validate-now.ts'

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
   * How long it lives: for one run, as long as the session of the run (in `session.state`; of a run
   * without one, as long as the run), or for a tenant, in the agent's `stateStore`. The latter two need
   * a schema.
   * @default 'run'
   */
  readonly scope?: 'run' | 'session' | 'tenant' | undefined
  /**
   * A whole number that goes up when the schema changes in a way that old values do not fit.
   * @default 1
   */
  readonly version?: number | undefined
  /** Makes a value of this version from one of an earlier one. @default the old value starts anew */
  readonly migrate?: ((value: unknown, version: number) => T) | undefined
}

/** A value that each run has one of. */
export interface StateCell<T> extends Readonly<StateOptions<T>> {
  /** Finds or makes the cell's place among those of a run. A run without cells ships no checks. */
  readonly '~slot': (slots: Slots, session: Session | undefined) => Slot
  /** @internal The value of a tenant. */
  readonly '~shared': (around: StateSurroundings) => SharedValue<T>
}

/** A value that all runs of a tenant have in common. */
interface SharedValue<T> {
  load(): Promise<T>
  change(updater: (value: T) => T): Promise<T>
}

/** What the state of a run reaches beyond the run. */
export interface StateSurroundings {
  readonly session: Session | undefined
  readonly tenant: string | undefined
  readonly stateStore: KeyValueStore | undefined
}

/** Where a run keeps the value of a cell, or of a snapshot whose cell nobody has asked for yet. */
export interface Slot {
  readonly cell?: StateCell<unknown>
  value: unknown
  /** What becomes of a new value. */
  readonly check?: (value: unknown) => unknown
  /** The value for a snapshot, if it goes into one. */
  readonly save?: (() => unknown) | undefined
}

export type Slots = Map<string, Slot>

const scopes = ['run', 'session', 'tenant']

/**
 * Defines a value that each run has one of. Keep the cell: two definitions of one name clash.
 * @throws TypeError that names the option
 */
export function defineState<T>(options: StateOptions<T>): StateCell<T> {
  const { name, initial, schema, scope = 'run', version = 1, migrate } = options
  // A cell may be made of another one, which has more than options.
  checkOptions(
    'defineState',
    { name, scope, version },
    { name: 'string', scope: scopes, version: 1 },
  )
  if (typeof initial !== 'function') {
    throw new TypeError(
      `defineState: \`initial\` of "${name}" must be a function, got ${typeof initial}`,
    )
  }
  if (scope !== 'run' && schema === undefined) {
    throw new TypeError(`defineState: "${name}" of scope ${scope} must have a \`schema\``)
  }
  const cell: StateCell<T> = {
    name,
    initial,
    schema,
    scope,
    version,
    migrate,
    '~slot': (slots, session) => slotOf(cell, slots, session),
    '~shared': (around) => sharedValue(cell, around),
  }
  return Object.freeze(cell)
}

function slotOf<T>(cell: StateCell<T>, slots: Slots, session: Session | undefined): Slot {
  const { name, schema, scope } = cell
  const known = slots.get(name)
  if (known?.cell === cell) return known
  if (known?.cell !== undefined) {
    throw new LamellaError(
      `state "${name}" is defined twice in this run; give each cell its own name`,
      { code: 'state_conflict' },
    )
  }
  if (scope === 'tenant') {
    throw new LamellaError(
      `state "${name}" belongs to a tenant; use \`await run.state.load\` and \`change\``,
      { code: 'state_scope' },
    )
  }
  const slot =
    scope === 'session' && session !== undefined
      ? sessionSlot(cell, session)
      : runSlot(cell, known !== undefined && schema !== undefined ? known.value : undefined)
  slots.set(name, slot)
  return slot
}

function runSlot<T>(cell: StateCell<T>, restored: unknown): Slot {
  const slot: Slot = {
    cell,
    value: restored === undefined ? check(cell, cell.initial()) : read(cell, restored),
    check: (value) => check(cell, value),
    save: cell.schema && (() => write(cell, slot.value as T)),
  }
  return slot
}

/** Other runs of the session see a change at once. */
function sessionSlot<T>(cell: StateCell<T>, { state }: Session): Slot {
  return {
    cell,
    get value() {
      return Object.hasOwn(state, cell.name)
        ? read(cell, state[cell.name])
        : check(cell, cell.initial())
    },
    set value(value: unknown) {
      // A name may be `__proto__`.
      const own = { value: write(cell, value as T), enumerable: true, writable: true }
      Object.defineProperty(state, cell.name, { ...own, configurable: true })
    },
    check: (value) => check(cell, value),
  }
}

/** @throws LamellaError `state_scope` without a tenant or a store */
function sharedValue<T>(
  cell: StateCell<T>,
  { stateStore: store, tenant }: StateSurroundings,
): SharedValue<T> {
  const { name, initial } = cell
  if (store === undefined || tenant === undefined) {
    const missing = tenant === undefined ? '`tenant` of the run' : '`stateStore` of the agent'
    throw new LamellaError(`state "${name}" belongs to a tenant, and there is no ${missing}`, {
      code: 'state_scope',
    })
  }
  const key = `state:${JSON.stringify([tenant, name])}`
  const valueOf = (stored: unknown): T => (stored === undefined ? initial() : read(cell, stored))
  return {
    load: async () => valueOf(await store.get(key)),
    async change(updater) {
      for (;;) {
        const stored = await store.get(key)
        const value = updater(valueOf(stored))
        if (await store.compareAndSet(key, stored, write(cell, value))) return value
      }
    },
  }
}

/** A value of the first version is written as it is, a later one with its version. */
function write<T>(cell: StateCell<T>, value: T): unknown {
  const { version = 1 } = cell
  const json = copy(cell, value)
  return version === 1 ? json : { [versionKey]: version, value: json }
}

function read<T>(cell: StateCell<T>, stored: unknown): T {
  const { version = 1, migrate, initial } = cell
  const marked = isObject(stored) && Object.hasOwn(stored, versionKey)
  const from = marked ? Number(stored[versionKey]) : 1
  const value = marked ? stored['value'] : stored
  if (from === version) return check(cell, value) as T
  if (from > version) {
    throw invalid(cell, `has a value of version ${from}, this program knows ${version}`)
  }
  return check(cell, migrate === undefined ? initial() : migrate(value, from)) as T
}

const versionKey = '~version'

/** As JSON: it may have been changed in place since it was set. */
function copy(cell: StateCell<unknown>, value: unknown): unknown {
  checkJson(cell, value)
  return JSON.parse(JSON.stringify(value))
}

/** What the schema makes of a value. Messages name the cell and never the value. */
function check<T>(cell: StateCell<T>, value: unknown): unknown {
  if (cell.schema === undefined) return value
  checkJson(cell, value)
  const result = validateNow(cell.schema, value)
  if (result === undefined) {
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

function isJson(value: unknown, parents: object[]): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || parents.includes(value)) return false
  const isList = Array.isArray(value)
  if (!isList && !isPlain(value)) return false
  parents.push(value)
  const isAll = isList
    ? Array.from(value).every((entry) => isJson(entry, parents))
    : Object.values(value).every((entry) => entry === undefined || isJson(entry, parents))
  parents.pop()
  return isAll
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

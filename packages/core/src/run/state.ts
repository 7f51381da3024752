import { checkOptions, checkValue } from '../base/check-options.ts'
import { isObject } from '../base/plain-data.ts'
import { isJson } from '../base/json.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { isThenable } from '../base/promises.ts'
import { checkSchema } from '../base/standard-schema.ts'
import { validateNow } from '../base/validate.ts'
import type { Session } from '../messages/session.ts'
import { keyOf } from '../store/key-of.ts'
import { withinStoreTime } from '../store/store-time-limit.ts'
import type {
  RunState,
  SharedValue,
  Slot,
  Slots,
  StateCell,
  StateOptions,
  StateSurroundings,
} from '../contract/state.ts'

const scopes = ['run', 'session', 'tenant']

/**
 * Defines a cell of state, with one value for each run. Keep the cell in a constant: two
 * definitions of one name throw.
 * @throws TypeError that names the option
 *
 * @example
 * ```ts
 * import { chatMiddleware, defineState } from '@lamella/core'
 *
 * const modelCalls = defineState({ name: 'model-calls', initial: () => 0 })
 * const count = chatMiddleware('count', async ({ run }, callNext) => {
 *   run.state.update(modelCalls, (calls) => calls + 1)
 *   await callNext()
 * })
 * console.log(count.name) // count
 * ```
 */
export function defineState<T>(options: StateOptions<T>): StateCell<T> {
  const { name, initial, schema, scope = 'run', version = 1, migrate } = options
  // A cell may be made of another one, which has more than options.
  checkOptions(
    'defineState',
    { name, scope, version },
    { name: 'string', scope: scopes, version: 1 },
  )
  const isMade = typeof initial === 'function'
  checkValue(isMade, `defineState: \`initial\` of "${name}"`, 'be a function', initial)
  if (schema !== undefined || scope !== 'run')
    checkSchema(`defineState: \`schema\` of "${name}"`, schema)
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
function sharedValue<T>(cell: StateCell<T>, around: StateSurroundings): SharedValue<T> {
  const { name, initial } = cell
  const { store, tenant, storeTimeoutMs: timeoutMs = 5000 } = around
  if (store === undefined || tenant === undefined) {
    const missing = tenant === undefined ? '`tenant` of the run' : '`store` of the agent'
    throw new LamellaError(`state "${name}" belongs to a tenant, and there is no ${missing}`, {
      code: 'state_scope',
    })
  }
  const key = keyOf('state:', { tenant }, name)
  const limit = { clock: around.clock, timeoutMs, signal: around.signal }
  const valueOf = (stored: unknown): T => (stored === undefined ? initial() : read(cell, stored))
  const change = async (updater: (value: T) => T, isOver: () => boolean): Promise<T> => {
    for (;;) {
      const stored = await store.get(key)
      const value = updater(valueOf(stored))
      if (await store.compareAndSet(key, stored, write(cell, value))) return value
      if (isOver()) return value
    }
  }
  return {
    load: async () => valueOf(await withinStoreTime(store.get(key), limit)),
    async change(updater) {
      let isOver = false
      try {
        return await withinStoreTime(
          change(updater, () => isOver),
          limit,
        )
      } finally {
        isOver = true
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

/** Validates a value with the cell's schema. Error messages name the cell and never the value. */
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
  if (!isJson(value)) throw invalid(cell, 'got a value that is not JSON')
}

function invalid(cell: StateCell<unknown>, problem: string): LamellaError {
  return new LamellaError(`state "${cell.name}" ${problem}`, { code: 'schema_invalid' })
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
    const around = this.#around
    const { stopped } = around
    const before = [...this.#slots].map(([name, slot]) => ({ name, slot, value: slot.value }))
    try {
      const result = work()
      if (!isThenable(result)) return result
      // It fails here; how its promise ends changes nothing.
      result.then(undefined, () => {})
      throw new TypeError('run.state.batch: `work` is async')
    } catch (error) {
      this.#slots = new Map(before.map(({ name, slot }) => [name, slot]))
      for (const { slot, value } of before) slot.value = value
      around.stopped = stopped
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

const nowhere: StateSurroundings = { session: undefined, tenant: undefined, store: undefined }

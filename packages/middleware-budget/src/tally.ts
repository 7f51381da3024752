import type { KeyValueStore, RunContext } from '@lamella/core'
import { LamellaError, memoryStore } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import type { BudgetCounter, BudgetOptions } from './budget-options.ts'

/** The sums of those that share a budget. */
export interface Tally {
  /** Adds to a sum in one step, and gives the new one. */
  add(counter: BudgetCounter, by: number): number | Promise<number>
}

/** Sums of one run, kept with it. */
export function runTally(sums: Partial<Record<BudgetCounter, number>>): Tally {
  return { add: (counter, by) => (sums[counter] = (sums[counter] ?? 0) + by) }
}

/**
 * Makes the function that finds the sums of whatever a run shares its budget with; `undefined` where
 * that is nothing but itself.
 */
export function sharedTallies(
  name: string,
  { scope = 'run', window, store, storeTimeoutMs = 2000 }: BudgetOptions,
  clock: Clock,
): (run: RunContext) => Tally | undefined {
  if (scope === 'run') return () => undefined
  const kept: KeyValueStore = store ?? memoryStore({ maxEntries: 100_000, clock })
  return (run) => {
    const owner = scopeOf(name, scope, run)
    if (owner === undefined) return undefined
    const { start, end } = windowAt(window, clock.now())
    const key = `budget:${JSON.stringify([name, ...owner, start])}`
    // A run that ends later than its window still finds it.
    const ttlMs = end === undefined ? undefined : end - clock.now() + 86_400_000
    return {
      add(counter, by) {
        const sum = kept.increment(`${key}:${counter}`, by, { ttlMs })
        return store === undefined ? sum : inTime(sum, storeTimeoutMs, clock)
      },
    }
  }
}

async function inTime<Value>(work: Promise<Value>, ms: number, clock: Clock): Promise<Value> {
  const done = new AbortController()
  const late = clock.sleep(ms, done.signal).then(() => {
    throw new Error(`the store did not answer within ${ms} ms`)
  })
  late.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    done.abort()
  }
}

function scopeOf(
  name: string,
  scope: Exclude<BudgetOptions['scope'], undefined>,
  run: RunContext,
): readonly string[] | undefined {
  if (typeof scope === 'function') return ['own', scope(run)]
  if (scope === 'session') return run.session && ['session', run.session.id]
  if (run.tenant !== undefined) return ['tenant', run.tenant]
  throw new LamellaError(`${name}: the budget is that of a tenant, and the run has none`, {
    code: 'state_scope',
  })
}

function windowAt(
  window: BudgetOptions['window'],
  now: number,
): { readonly start: number; readonly end: number | undefined } {
  if (window === undefined) return { start: 0, end: undefined }
  if (typeof window === 'number') {
    const start = now - (now % window)
    return { start, end: start + window }
  }
  const date = new Date(now)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return window === 'month'
    ? { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) }
    : windowAt(86_400_000, now)
}

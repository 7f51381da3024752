import type { RunContext } from '@lamella/core'
import { LamellaError, memoryStore } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { perStore } from '@lamella/store'
import { keyOf, withinStoreTime } from '@lamella/core/authoring'
import type { BudgetCounter, BudgetOptions } from './budget-options.ts'

/** Sums that several runs may share. */
export interface Tally {
  /** Adds to a sum atomically, and returns the new one. */
  add(counter: BudgetCounter, by: number): number | Promise<number>
}

/** Makes the sums of one run, stored with it. */
export function runTally(sums: Partial<Record<BudgetCounter, number>>): Tally {
  return { add: (counter, by) => (sums[counter] = (sums[counter] ?? 0) + by) }
}

/**
 * Makes the function that finds the shared sums of a run; `undefined` if the run shares with nothing.
 */
export function sharedTallies(
  name: string,
  { scope = 'run', window, store, storeTimeoutMs = 2000 }: BudgetOptions,
  clock: Clock,
): (run: RunContext) => Tally | undefined {
  if (scope === 'run') return () => undefined
  const storeOf = perStore(store, (given) => ({
    kept: given ?? memoryStore({ maxEntries: 100_000, clock }),
    timeoutMs: given === undefined ? Infinity : storeTimeoutMs,
  }))
  return (run) => {
    const { kept, timeoutMs } = storeOf(run)
    const owner = scopeOf(name, scope, run)
    if (owner === undefined) return undefined
    const { start, end } = windowAt(window, clock.now())
    const keyFor = (counter: BudgetCounter): string =>
      keyOf('budget:', owner, name, ...owner.parts, start, counter)
    // A run that ends after its window still finds it.
    const ttlMs = end === undefined ? undefined : end - clock.now() + 86_400_000
    return {
      add(counter, by) {
        const sum = kept.increment!(keyFor(counter), by, { ttlMs })
        return withinStoreTime(sum, { clock, timeoutMs })
      },
    }
  }
}

function scopeOf(
  name: string,
  scope: Exclude<BudgetOptions['scope'], undefined>,
  run: RunContext,
):
  | (Partial<Pick<RunContext, 'tenant' | 'principal'>> & { readonly parts: readonly string[] })
  | undefined {
  if (typeof scope === 'function') return { parts: ['own', scope(run)] }
  const { tenant, principal, session } = run
  if (scope === 'session') {
    return session && { tenant, principal, parts: ['session', session.id] }
  }
  if (tenant !== undefined) return { tenant, parts: ['tenant'] }
  throw new LamellaError(`${name}: the budget belongs to a tenant, and the run has none`, {
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

import type { RunContext } from '@lamella/core'
import { defineState, jsonSchema } from '@lamella/core'
import { systemClock } from '@lamella/core/authoring'
import type { Ledger } from './budget-account.ts'
import { BudgetAccount, emptyLedger } from './budget-account.ts'
import type { BudgetOptions } from './budget-options.ts'
import type { BudgetRules } from './budget-rules.ts'
import { priceOf } from './price-table.ts'
import { runTally, sharedTallies } from './tally.ts'

/** Finds the account of a run. Accounts are stored with their runs. */
export interface BudgetAccounts {
  /** Opens the account of a run, or shares the one of an outer run. */
  open(run: RunContext): { readonly account: BudgetAccount; readonly isOwner: boolean }
  of(run: RunContext): BudgetAccount
}

export function budgetAccounts(options: BudgetOptions, rules: BudgetRules): BudgetAccounts {
  const { name = 'budget', limits = {}, clock = systemClock, prices, thresholds = [0.8] } = options
  const ledgers = defineState({
    name: `budget:${name}`,
    initial: emptyLedger,
    schema: jsonSchema<Ledger>({ type: 'object' }),
  })
  // Also found in outer runs, which may have a budget of this name that is another object.
  const opened = defineState<BudgetAccount | undefined>({
    name: `budget:${name}:account:${crypto.randomUUID()}`,
    initial: () => undefined,
  })
  const sharedTally = sharedTallies(name, options, clock)
  const price = prices && priceOf(prices)

  const open: BudgetAccounts['open'] = (run) => {
    let shared: BudgetAccount | undefined
    for (let outer = run.parent; outer !== undefined && !shared; outer = outer.parent) {
      shared = outer.state.get(opened)
    }
    if (shared === undefined) {
      const ledger = run.state.get(ledgers)
      shared = new BudgetAccount(run, ledger, {
        name,
        limits,
        thresholds,
        clock: options.clock ?? run.clock,
        price,
        tally: sharedTally(run) ?? runTally(ledger.sums),
        isOpen: options.onStoreError === 'open',
        ignoresUnknownPrices: options.onUnknownPrice === 'ignore',
        report: rules.report,
      })
    }
    run.state.update(opened, () => shared)
    return { account: shared, isOwner: shared.run === run }
  }

  return { open, of: (run) => run.state.get(opened) ?? open(run).account }
}

import type { RunContext } from '@lamella/core'
import { BudgetExhausted } from '@lamella/core'
import { reporter, unlessAborted } from '@lamella/core/authoring'
import type { Amounts, BudgetAccount } from './budget-account.ts'
import type { BudgetCounter, BudgetEvent, BudgetOptions, BudgetShare } from './budget-options.ts'

/** Limit that is exhausted. */
export interface UsedUp {
  readonly counter: BudgetCounter | 'toolCallsPerTool' | 'repeatedToolCalls'
  readonly spent: number
  readonly limit: number
}

/** Run or call that needs a budget. */
export interface Caller {
  readonly run: RunContext
  readonly signal: AbortSignal
}

/** Behavior at a limit. */
export interface BudgetRules {
  readonly report: (run: RunContext, event: BudgetEvent) => void
  /**
   * Reserves `amounts` if they fit and no limit of `relevant` is exhausted; otherwise resolves to
   * the exhausted limit. `open` is the estimated part. An abort ends the wait for the store;
   * amounts that it grants later are returned.
   */
  take(
    context: Caller,
    account: BudgetAccount,
    relevant: readonly BudgetCounter[],
    amounts: Amounts,
    open?: Amounts,
  ): Promise<BudgetShare | undefined>
  /**
   * Reserves `amounts` in the same way, and resolves to them. @throws BudgetExhausted otherwise; in
   * shadow mode this is only reported, and nothing is reserved
   */
  demand(
    context: Caller,
    account: BudgetAccount,
    relevant: readonly BudgetCounter[],
    amounts: Amounts,
    open?: Amounts,
  ): Promise<Amounts>
  /**
   * Reports an exhausted limit. Returns the error that ends the run, or `undefined` in shadow mode.
   */
  exhausted(run: RunContext, account: BudgetAccount, what: UsedUp): BudgetExhausted | undefined
  /** Resolves to the error that ends the run when its time is up. */
  timeIsUp(run: RunContext, account: BudgetAccount, over: AbortSignal): Promise<unknown>
}

export function budgetRules(options: BudgetOptions): BudgetRules {
  const { name = 'budget', mode, message } = options
  const report = reporter<BudgetEvent>('budget', options.onEvent)

  const exhausted: BudgetRules['exhausted'] = (run, account, { counter, spent, limit }) => {
    const isShadow = mode === 'shadow'
    const event = { budget: name, counter, spent, limit }
    if (isShadow) {
      if (account.tells(`${counter} shadow`)) report(run, { ...event, status: 'shadow' })
      return undefined
    }
    report(run, { ...event, status: 'exhausted' })
    const share = { counter, spent, limit, remaining: Math.max(0, limit - spent) } as BudgetShare
    const result = typeof message === 'function' ? message(share) : message
    return new BudgetExhausted(counter, limit, result === undefined ? {} : { result })
  }

  const take: BudgetRules['take'] = async ({ signal }, account, relevant, amounts, open) => {
    const asked = account.reserve(relevant, amounts, open)
    try {
      return await unlessAborted(signal, asked)
    } catch (error) {
      const giveBack = (late: unknown): unknown => late ?? account.settle(amounts, open)
      if (signal.aborted) asked.then(giveBack).catch(() => {})
      throw error
    }
  }

  return {
    report,
    exhausted,
    take,
    async demand(context, account, relevant, amounts, open) {
      const over = await take(context, account, relevant, amounts, open)
      const error = over && exhausted(context.run, account, over)
      if (error !== undefined) throw error
      return over === undefined ? amounts : {}
    },
    async timeIsUp(run, account, over) {
      const left = (): BudgetShare => account.shares.find(({ counter }) => counter === 'wallMs')!
      const { clock = run.clock } = options
      await clock.sleep(left().remaining, over, true)
      const { limit } = left()
      return exhausted(run, account, { counter: 'wallMs', spent: limit, limit })
    },
  }
}

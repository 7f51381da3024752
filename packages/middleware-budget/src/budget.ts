import type { AgentMiddleware, ChatMiddleware, FunctionMiddleware } from '@lamella/core'
import {
  agentLayer,
  callWithin,
  chatLayer,
  functionLayer,
  systemClock,
} from '@lamella/core/authoring'
import { budgetAccounts } from './budget-accounts.ts'
import type { BudgetOptions } from './budget-options.ts'
import { budgetRules } from './budget-rules.ts'
import { checkBudgetOptions, meteredCounters, modelCallCounters } from './check-budget-options.ts'
import { modelCalls } from './model-calls.ts'
import { toolCalls } from './tool-calls.ts'

/**
 * Ends a run that has used up its calls, tokens, money or time, or that goes round in circles: its
 * status is `budget_exhausted`. The same object on a sub-agent shares the budget of its caller.
 * @throws TypeError or RangeError that names the option
 */
export function budget(
  options: BudgetOptions = {},
): readonly [AgentMiddleware, ChatMiddleware, FunctionMiddleware] {
  checkBudgetOptions(options)
  const rules = budgetRules(options)
  const accounts = budgetAccounts(options, rules)
  const { clock = systemClock, limits = {} } = options

  return [
    agentLayer('budget', options, async (context, callNext) => {
      const { run } = context
      const { account, isOwner } = accounts.open(run)
      const stop = run.observe(({ type, data }) => {
        if (type === 'internal_call') account.chargeInternal(data as never)
      })
      try {
        // Resumed, it may have a tool call to make before its next model call.
        const isResumed = isOwner && account.ledger.counted.modelCalls !== undefined
        await rules.demand(context, account, isResumed ? meteredCounters : modelCallCounters, {})
        if (limits.wallMs === undefined || !isOwner || options.mode === 'shadow') await callNext()
        else {
          await callWithin(context, callNext, {
            clock,
            late: (over) => rules.timeIsUp(run, account, over),
          })
        }
      } finally {
        stop()
        const left = isOwner ? account.leave() : undefined
        // An abort does not wait for the store.
        if (!context.signal.aborted) await left
      }
    }),
    chatLayer('budget', options, modelCalls(options, rules, accounts)),
    functionLayer('budget', options, toolCalls(options, rules, accounts)),
  ]
}

import type { AgentMiddleware, ChatMiddleware, FunctionMiddleware } from '@lamella/core'
import {
  defineAgentMiddleware,
  callWithin,
  defineChatMiddleware,
  defineFunctionMiddleware,
} from '@lamella/core/authoring'
import { budgetAccounts } from './budget-accounts.ts'
import type { BudgetOptions } from './budget-options.ts'
import { budgetRules } from './budget-rules.ts'
import {
  checkBudgetOptions,
  meteredCounters,
  modelCallCounters,
  storeNeeds,
} from './check-budget-options.ts'
import { modelCalls } from './model-calls.ts'
import { toolCalls } from './tool-calls.ts'

/**
 * Ends a run that has used up its calls, tokens, money or time, or that repeats itself: its status is
 * `budget_exhausted`. Sub-agents share the budget of the calling run, unless they have one of their own.
 * @throws TypeError or RangeError that names the option
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { budget } from '@lamella/middleware-budget'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const middleware = budget({ limits: { modelCalls: 10, totalTokens: 50_000 } })
 * const agent = new Agent({ client: scriptedClient(['Hello.']), middleware })
 * console.log((await agent.run('Hi')).status) // completed
 * ```
 */
export function budget(
  options: BudgetOptions = {},
): readonly [AgentMiddleware, ChatMiddleware, FunctionMiddleware] {
  checkBudgetOptions(options)
  const rules = budgetRules(options)
  const accounts = budgetAccounts(options, rules)
  const { limits = {} } = options

  const isShared = options.store === undefined && (options.scope ?? 'run') !== 'run'
  const atRun: AgentMiddleware = {
    ...defineAgentMiddleware('budget', options, async (context, callNext) => {
      const { run } = context
      const { account, isOwner } = accounts.open(run)
      const stop = run.observe(({ type, data }) => {
        if (type === 'internal_call') account.chargeInternal(data as never)
      })
      try {
        // A resumed run may make a tool call before its next model call.
        const isResumed = isOwner && account.ledger.counted.modelCalls !== undefined
        await rules.demand(context, account, isResumed ? meteredCounters : modelCallCounters, {})
        if (limits.wallMs === undefined || !isOwner || options.mode === 'shadow') await callNext()
        else {
          await callWithin(context, callNext, {
            clock: options.clock ?? run.clock,
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
    storeNeeds: isShared ? storeNeeds : undefined,
    inherited: true,
  }
  const atModelCalls = modelCalls(options, rules, accounts)
  const atToolCalls = toolCalls(options, rules, accounts)
  return [
    atRun,
    { ...defineChatMiddleware('budget', options, atModelCalls), inherited: true },
    { ...defineFunctionMiddleware('budget', options, atToolCalls), inherited: true },
  ]
}

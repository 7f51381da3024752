import type { ChatContext, ChatMiddleware, Usage } from '@lamella/core'
import { addUsage } from '@lamella/core'
import type { InternalCallEvent } from '@lamella/core/authoring'
import { mergeChatOptions, requestTokens } from '@lamella/core/authoring'
import type { Amounts, BudgetAccount } from './budget-account.ts'
import type { BudgetAccounts } from './budget-accounts.ts'
import type { BudgetOptions } from './budget-options.ts'
import type { BudgetRules } from './budget-rules.ts'
import { modelCallCounters } from './check-budget-options.ts'
import type { ModelName } from './price-table.ts'
import { priceOf } from './price-table.ts'

/** Makes the layer around model calls: it reserves what a call will take, and settles what it took. */
export function modelCalls(
  options: BudgetOptions,
  rules: BudgetRules,
  accounts: BudgetAccounts,
): ChatMiddleware['process'] {
  const { name = 'budget', limits = {}, prices, degrade, note = false, mode } = options
  const { thresholds = [0.8], estimate = estimateInput } = options
  const price = prices && priceOf(prices)
  const firstThreshold = Math.min(...thresholds)
  const metered = ['inputTokens', 'outputTokens', 'totalTokens', 'costUsd'] as const
  const isMetered = metered.some((counter) => limits[counter] !== undefined)

  const runShort = (context: ChatContext, account: BudgetAccount): void => {
    const { fullest } = account
    if (fullest === undefined || mode === 'shadow') return
    const { counter, spent, limit } = fullest
    if (note !== false && spent >= limit * firstThreshold) {
      const words = note === true ? comeToAnEnd : note
      context.instructions = [context.instructions, words].filter(Boolean).join('\n\n')
    }
    if (degrade === undefined || spent < limit * (degrade.at ?? 0.8)) return
    if (account.tells('degraded')) {
      rules.report(context.run, { budget: name, status: 'degraded', counter, spent, limit })
    }
    context.options = mergeChatOptions(context.options, degrade.options)
    context.client = degrade.client ?? context.client
  }

  const expected = (context: ChatContext): Amounts => {
    if (!isMetered) return { modelCalls: 1 }
    const usage = estimate(context)
    const { inputTokens = 0, outputTokens = 0 } = usage
    const { totalTokens = inputTokens + outputTokens } = usage
    const costUsd = price?.({ ...usage, totalTokens }, modelOf(context)) ?? 0
    return { modelCalls: 1, inputTokens, outputTokens, totalTokens, costUsd }
  }

  return async (context, callNext) => {
    const { run } = context
    const account = accounts.of(run)
    runShort(context, account)
    account.checkPrice(modelOf(context))
    const reserved = await rules.demand(context, account, modelCallCounters, expected(context))
    context.metadata['budget'] = account.shares
    const before = run.usage
    const attemptsBefore = run.attempts.length
    let internal: Usage = {}
    const stop = run.observe(({ type, data }) => {
      if (type === 'internal_call') internal = addUsage(internal, (data as InternalCallEvent).usage)
    })
    const end = async (): Promise<void> => {
      stop()
      let rest = without(run.usage, before, internal)
      for (const { provider, model, usage } of run.attempts.slice(attemptsBefore)) {
        if (usage === undefined) continue
        account.charge(usage, { provider, model })
        rest = without(rest, usage)
      }
      const { provider, model } = modelOf(context)
      const answered = { provider: run.servedBy ?? provider, model: context.result?.model ?? model }
      account.charge(rest, answered)
      // What a layer inside has answered, or refused, was no call.
      const isCall = run.servedBy !== undefined
      if (isCall) account.count('modelCalls')
      await account.settle(isCall ? { ...reserved, modelCalls: 0 } : reserved)
    }
    try {
      await callNext()
    } catch (error) {
      // What ended the call is told, and not a store that fails; an abort does not wait for it.
      const ended = end().catch(() => {})
      if (!context.signal.aborted) await ended
      throw error
    }
    await end()
    account.throwProblem()
  }
}

function modelOf({ client, options }: ChatContext): ModelName {
  return { provider: client.provider, model: options.model ?? client.model }
}

function estimateInput({ messages, instructions, options }: ChatContext): Usage {
  const { tools, responseFormat } = options
  return { inputTokens: requestTokens({ messages, instructions, tools, responseFormat }) }
}

/** What is left of a count without others. */
function without(usage: Usage, ...others: readonly Usage[]): Usage {
  const rest: Record<string, number> = {}
  for (const [name, count = 0] of Object.entries(usage)) {
    const left = others.reduce((sum, other) => sum - (other[name] ?? 0), count)
    rest[name] = Math.max(0, left)
  }
  return rest
}

const comeToAnEnd =
  'Most of the budget for this task is used up. Come to an end soon, with what you have.'

import type { ChatContext, ChatMiddleware, Usage } from '@lamella/core'
import { addUsage, isProviderError } from '@lamella/core'
import type { InternalCallEvent } from '@lamella/core/authoring'
import { estimateTokens, requestTokens } from '@lamella/text'
import { mergeChatOptions } from '@lamella/core/authoring'
import type { Amounts, BudgetAccount } from './budget-account.ts'
import type { BudgetAccounts } from './budget-accounts.ts'
import type { BudgetOptions } from './budget-options.ts'
import type { BudgetRules } from './budget-rules.ts'
import { modelCallCounters } from './check-budget-options.ts'
import type { ModelName } from './price-table.ts'
import { priceOf } from './price-table.ts'

/** Creates the chat middleware: it reserves the amounts of a call, and settles the actual usage. */
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

  /** Amounts above twice a limit do not fit either, and would cost a sum its last digits. */
  const amountsOf = (usage: Usage, costUsd = 0): Amounts => {
    const all = { ...withTotal(usage), costUsd }
    const amounts: Amounts = { modelCalls: 1 }
    for (const counter of metered) {
      const amount = Math.max(0, all[counter] ?? 0) || 0
      amounts[counter] = Math.min(amount, 2 * (limits[counter] ?? 0))
    }
    return amounts
  }

  /** The longest answer so far, or a guess. */
  let longestOutput = 0
  const noAmounts: Amounts = {}

  /** Estimates the amounts that a call will take, and how much of that is a guess. */
  const expected = (context: ChatContext) => {
    if (!isMetered) return { usage: {}, amounts: { modelCalls: 1 }, open: noAmounts }
    const { maxOutputTokens = longestOutput || usualOutput } = context.options
    const known = estimate(context)
    const isGuess = options.estimate === undefined
    const usage = isGuess ? { ...known, outputTokens: maxOutputTokens } : known
    const model = modelOf(context)
    const amounts = amountsOf(usage, price?.(withTotal(usage), model))
    if (!isGuess) return { usage, amounts, open: noAmounts }
    const certain = amountsOf(known, price?.(withTotal(known), model))
    const open: Amounts = {}
    for (const counter of metered) open[counter] = amounts[counter]! - certain[counter]!
    return { usage, amounts, open }
  }

  return async (context, callNext) => {
    const { run } = context
    const account = accounts.of(run)
    runShort(context, account)
    const asked = modelOf(context)
    account.checkPrice(asked)
    const { usage: guess, amounts, open } = expected(context)
    const reserved = await rules.demand(context, account, modelCallCounters, amounts, open)
    // Not in shadow mode, where nothing may have been taken.
    const reservedOpen = reserved === amounts ? open : noAmounts
    context.metadata['budget'] = account.shares
    const before = run.usage
    const attemptsBefore = run.attempts.length
    let internal: Usage = {}
    const stop = run.observe(({ type, data }) => {
      if (type === 'internal_call') internal = addUsage(internal, (data as InternalCallEvent).usage)
    })
    const end = async (error?: unknown): Promise<void> => {
      stop()
      let rest = without(run.usage, before, internal)
      for (const { provider, model, usage } of run.attempts.slice(attemptsBefore)) {
        if (usage === undefined) continue
        account.charge(usage, { provider, model }, asked)
        rest = without(rest, usage)
      }
      const { provider, model } = modelOf(context)
      const answered = { provider: run.servedBy ?? provider, model: context.result?.model ?? model }
      account.charge(rest, answered, asked)
      // Answered or rejected by an inner middleware, so no call was made.
      const isCall = run.servedBy !== undefined
      if (isCall) account.count('modelCalls')
      longestOutput = Math.max(longestOutput, rest.outputTokens ?? 0)
      if (isMetered && isCall) {
        const counted = without(run.usage, before, internal)
        const used = usedBy(context, guess, error)
        if (used !== undefined) {
          account.chargeEstimate(missing(counted, used, context.result?.usage), answered, asked)
        }
      }
      await account.settle(isCall ? { ...reserved, modelCalls: 0 } : reserved, reservedOpen)
    }
    try {
      await callNext()
    } catch (error) {
      // The end of the call is reported, not a failure of the store; an abort does not wait for the
      // store.
      const ended = end(error).catch(() => {})
      if (!context.signal.aborted) await ended
      throw error
    }
    await end()
  }
}

function modelOf({ client, options }: ChatContext): ModelName {
  return { provider: client.provider, model: options.model ?? client.model }
}

/** Output tokens of a call that sets no limit, before any answer has come. */
const usualOutput = 1024

/** Usage of a call that reports none; `undefined` if it was refused. */
function usedBy({ result, signal }: ChatContext, guess: Usage, error: unknown): Usage | undefined {
  if (error === undefined) {
    const said = (result?.text ?? '') + result?.functionCalls.map((call) => call.arguments).join('')
    return withTotal({ ...guess, outputTokens: estimateTokens(said) })
  }
  // Left or interrupted: the provider also counts an answer that no reader waits for.
  const isUnderWay = signal.aborted || (isProviderError(error) && error.partial !== undefined)
  return isUnderWay ? withTotal(guess) : undefined
}

/**
 * Returns the counts of `used` that the provider did not report. No call has an input of 0 tokens, nor an
 * answer with text an output of 0.
 */
function missing(counted: Usage, used: Usage, told: Usage | undefined): Usage {
  if (!Object.values(counted).some((count = 0) => count > 0)) return used
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0 } = addUsage({}, told)
  if (inputTokens + outputTokens + totalTokens === 0) return {}
  return withTotal({
    inputTokens: inputTokens > 0 || totalTokens > outputTokens ? 0 : used.inputTokens,
    outputTokens: outputTokens > 0 || totalTokens > inputTokens ? 0 : used.outputTokens,
  })
}

function withTotal(usage: Usage): Usage {
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0 } = usage
  return { ...usage, totalTokens: Math.max(totalTokens, inputTokens + outputTokens) }
}

function estimateInput({ messages, instructions, options }: ChatContext): Usage {
  const { tools, responseFormat } = options
  return { inputTokens: requestTokens({ messages, instructions, tools, responseFormat }) }
}

/** Subtracts usages from a usage. */
function without(usage: Usage, ...others: readonly Usage[]): Usage {
  const rest: Record<string, number> = {}
  for (const [name, count = 0] of Object.entries(usage)) {
    const left = others.reduce((sum, other) => sum - (other[name] ?? 0), count)
    rest[name] = Math.max(0, left)
  }
  return rest
}

const comeToAnEnd = 'Most of the budget for this task is used up. Finish soon, with what you have.'

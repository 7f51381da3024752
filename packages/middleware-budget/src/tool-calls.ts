import type { FunctionMiddleware, FunctionResult } from '@lamella/core'
import { defineState, errorResult, jsonSchema } from '@lamella/core'
import { exitOf } from '@lamella/core/authoring'
import type { BudgetAccounts } from './budget-accounts.ts'
import type { BudgetAccount } from './budget-account.ts'
import type { BudgetOptions } from './budget-options.ts'
import type { BudgetRules, UsedUp } from './budget-rules.ts'
import { meteredCounters } from './check-budget-options.ts'
import { isRepeated, lastCalls, signatureOf } from './repeated-calls.ts'

/** Makes the function middleware: it counts tool calls, and detects cycles of them. */
export function toolCalls(
  options: BudgetOptions,
  rules: BudgetRules,
  accounts: BudgetAccounts,
): FunctionMiddleware['process'] {
  const { name = 'budget', limits = {}, onToolLimit = 'stop', mode } = options
  const { repeatedToolCalls = 3, toolCallsPerTool } = limits
  const recent = defineState<readonly string[]>({
    name: `budget:${name}:recent`,
    initial: () => [],
    schema: jsonSchema({ type: 'array' }),
  })

  const mostOf = (tool: string): number | undefined => {
    if (typeof toolCallsPerTool !== 'object') return toolCallsPerTool
    return Object.hasOwn(toolCallsPerTool, tool) ? toolCallsPerTool[tool] : undefined
  }

  const oneTooMany = (
    account: BudgetAccount,
    tool: string,
    calls: readonly string[],
  ): UsedUp | undefined => {
    if (repeatedToolCalls !== false && isRepeated(calls, repeatedToolCalls)) {
      const spent = repeatedToolCalls
      return { counter: 'repeatedToolCalls', spent, limit: repeatedToolCalls }
    }
    const limit = mostOf(tool)
    const spent = account.callsOf(tool)
    return limit !== undefined && spent >= limit
      ? { counter: 'toolCallsPerTool', spent, limit }
      : undefined
  }

  return async (context, callNext) => {
    const { run, function: tool } = context
    const account = accounts.of(run)
    const signature = signatureOf(tool.name, context.arguments)
    // Before the first wait, so that calls of a batch are in order.
    const calls = run.state.update(recent, (known) =>
      repeatedToolCalls === false ? known : lastCalls([...known, signature], repeatedToolCalls),
    )
    await rules.demand(context, account, meteredCounters, {})
    const over =
      oneTooMany(account, tool.name, calls) ??
      (await rules.take(context, account, ['toolCalls'], { toolCalls: 1 }))
    if (over !== undefined && onToolLimit === 'refuse' && mode !== 'shadow') {
      rules.report(run, { budget: name, status: 'refused', ...shown(over) })
      context.result = refusal(over)
      return
    }
    const ending = over && rules.exhausted(run, account, over)
    if (ending !== undefined) throw ending
    account.count('toolCalls')
    account.countTool(tool.name)
    context.metadata['budget'] = account.shares
    try {
      await callNext()
    } catch (error) {
      if (exitOf(error) === 'paused') {
        // A resumed run passes here again.
        account.count('toolCalls', -1)
        account.countTool(tool.name, -1)
        run.state.update(recent, (known) => without(known, signature))
        await account.settle({ toolCalls: 1 }).catch(() => {})
      }
      throw error
    }
  }
}

function without(calls: readonly string[], signature: string): readonly string[] {
  const last = calls.lastIndexOf(signature)
  return calls.filter((_, at) => at !== last)
}

function shown({ counter, spent, limit }: UsedUp): UsedUp {
  return { counter, spent, limit }
}

function refusal({ counter, limit }: UsedUp): FunctionResult {
  const isRepeat = counter === 'repeatedToolCalls'
  return errorResult('budget', `${counter} reached ${limit}`, isRepeat ? repeated : usedUp)
}

const repeated = 'The same call was made before, with the same arguments: try something else.'
const usedUp = 'Answer with what you have.'

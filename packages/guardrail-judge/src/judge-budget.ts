import type { RunContext } from '@lamella/core'
import { LamellaError, defineState, jsonSchema } from '@lamella/core'
import { callInternally } from '@lamella/core/authoring'
import type { JudgeCall } from './judge.ts'

/** Limits of a judge in one run. */
export interface JudgeBudget {
  /** Maximum number of model calls. @default no limit */
  readonly maxCalls?: number | undefined
  /** Maximum number of tokens, as the provider reports them. @default no limit */
  readonly maxTokens?: number | undefined
}

interface Spending {
  readonly calls: number
  readonly tokens: number
}

const spendings = defineState<Readonly<Record<string, Spending>>>({
  name: 'lamella.judge.spendings',
  initial: () => ({}),
  schema: jsonSchema({ type: 'object' }),
})

/** Creates the function that makes a judge's internal model calls within the budget. */
export function judgeCalls(
  name: string,
  { maxCalls = Infinity, maxTokens = Infinity }: JudgeBudget,
  run: RunContext,
  signal: AbortSignal,
): JudgeCall {
  const spend = (calls: number, tokens: number): void => {
    run.state.update(spendings, (all) => {
      const known = all[name] ?? { calls: 0, tokens: 0 }
      return { ...all, [name]: { calls: known.calls + calls, tokens: known.tokens + tokens } }
    })
  }
  return async (client, input, options) => {
    const { calls, tokens } = run.state.get(spendings)[name] ?? { calls: 0, tokens: 0 }
    if (calls >= maxCalls || tokens >= maxTokens) {
      const message = `the budget of judge "${name}" is used up: ${calls} calls, ${tokens} tokens`
      throw new LamellaError(message, { code: 'judge_budget' })
    }
    spend(1, 0)
    const call = { middleware: name, client, input, options: { ...options, signal } }
    const response = await callInternally(run, call)
    const { inputTokens = 0, outputTokens = 0, totalTokens } = response.usage ?? {}
    spend(0, totalTokens ?? inputTokens + outputTokens)
    return response
  }
}

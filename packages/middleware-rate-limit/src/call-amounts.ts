import type { RunContext, Usage } from '@lamella/core'
import type { TokenSubject } from '@lamella/text'
import { requestTokens } from '@lamella/text'
import type { RateLimitUnit } from './rate-limit-error.ts'

/** Estimates the usage of a model call before it is made. */
export function estimateUsage(
  subject: TokenSubject,
  maxOutputTokens: number | undefined,
  outputFactor: number,
): Usage {
  const inputTokens = requestTokens(subject)
  const outputTokens = Math.ceil((maxOutputTokens ?? 0) * outputFactor)
  return { inputTokens, outputTokens }
}

/** Returns the amount of a usage that counts for a unit; `undefined` for a price that is no cost. */
export function amountOf(
  unit: RateLimitUnit,
  usage: Usage,
  price: (usage: Usage) => number,
): number | undefined {
  switch (unit) {
    case 'requests':
    case 'concurrency':
      return 1
    case 'cost': {
      const cost = price(usage)
      return cost >= 0 && cost < Infinity ? cost : undefined
    }
    case 'totalTokens':
      return usage.totalTokens ?? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
    default:
      return usage[unit] ?? 0
  }
}

/** Tells whether the provider reported usage. Zeros count as reported. */
export function isTold({ inputTokens, outputTokens, totalTokens }: Usage): boolean {
  return (inputTokens ?? outputTokens ?? totalTokens) !== undefined
}

/** Returns the usage of a run since `before`. */
export function usedSince({ usage }: RunContext, before: Usage): Usage {
  const since: Record<string, number> = {}
  for (const [counter, count = 0] of Object.entries(usage)) {
    since[counter] = count - (before[counter] ?? 0)
  }
  return since
}

/** Tokens of one or more model calls. Providers may count more than is named here. */
export interface Usage {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly totalTokens?: number | undefined
  /** Part of `inputTokens`. */
  readonly cachedInputTokens?: number | undefined
  /** Input tokens that were written to the provider's prompt cache. */
  readonly cacheWriteTokens?: number | undefined
  /** Part of `outputTokens`. */
  readonly reasoningTokens?: number | undefined
  readonly [counter: string]: number | undefined
}

/** Adds two counts, counter by counter. A counter that only one of them has is taken over. */
export function addUsage(left: Usage, right: Usage | undefined): Usage {
  if (right === undefined) return left
  const sum: Record<string, number | undefined> = { ...left }
  for (const counter in right) {
    const value = right[counter]
    if (Number.isFinite(value)) sum[counter] = (sum[counter] ?? 0) + value!
  }
  return sum
}

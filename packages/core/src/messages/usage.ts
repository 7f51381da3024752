/** Tokens of one or more model calls. Providers may add counters. */
export interface Usage {
  /** Tokens of the input, cached ones included. */
  readonly inputTokens?: number | undefined
  /** Tokens of the output, reasoning included. */
  readonly outputTokens?: number | undefined
  /** Tokens of input and output. */
  readonly totalTokens?: number | undefined
  /** Part of `inputTokens`. */
  readonly cachedInputTokens?: number | undefined
  /** Input tokens that were written to the provider's prompt cache. */
  readonly cacheWriteTokens?: number | undefined
  /** Part of `outputTokens`. */
  readonly reasoningTokens?: number | undefined
  readonly [counter: string]: number | undefined
}

/**
 * Adds two counts, counter by counter. Counters of the second that are no count are ignored: no number,
 * negative, or above `Number.MAX_SAFE_INTEGER`. So no response gives back what others have used. A total is one of
 * all: input and output count for it where no total was reported.
 */
export function addUsage(left: Usage, right: Usage | undefined): Usage {
  if (right === undefined) return left
  const sum: Record<string, number | undefined> = { ...left }
  for (const counter in right) {
    const value = right[counter]
    if (isCount(value)) sum[counter] = (sum[counter] ?? 0) + value
  }
  if (isCount(sum['totalTokens'])) sum['totalTokens'] = totalOf(left) + totalOf(right)
  return sum
}

/** The tokens of input and output, also of a call that reported no total. */
function totalOf({ inputTokens, outputTokens, totalTokens }: Usage): number {
  if (isCount(totalTokens)) return totalTokens
  return (isCount(inputTokens) ? inputTokens : 0) + (isCount(outputTokens) ? outputTokens : 0)
}

function isCount(value: number | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value < 2 ** 53
}

/**
 * Combines the usage that a stream reported so far with a later report of the same answer. A later zero, or
 * what is no count, does not erase an earlier figure.
 */
export function laterUsage(before: Usage, later: Usage): Usage {
  const known: Record<string, number | undefined> = { ...before }
  for (const counter in later) {
    const value = later[counter]
    if (known[counter] === undefined || (isCount(value) && value > 0)) known[counter] = value
  }
  return known
}

/** Returns the difference of two counts, without counters that did not change. */
export function usageSince(now: Usage, before: Usage): Usage {
  const used: Record<string, number> = {}
  for (const counter in now) {
    const known = before[counter] ?? (counter === 'totalTokens' ? totalOf(before) : 0)
    const count = (now[counter] ?? 0) - known
    if (count !== 0) used[counter] = count
  }
  return used
}

import type { CountTokens } from '@lamella/core/authoring'
import { estimateTokens, tokenWeight } from '@lamella/core/authoring'
import type { GptEncodingName } from './gpt-encoding.ts'
import { encodingOf, loadEncoding } from './gpt-encoding.ts'

/** Whether tokens are counted by the model's own vocabulary, or estimated. */
export type CountMethod = 'exact' | 'estimate'

/** How the tokens of a model are counted. */
export interface TokenCounter {
  readonly method: CountMethod
  readonly count: CountTokens
  /** Of a piece of a text, such that pieces add up. */
  readonly weigh: CountTokens
}

export interface TokenCounterOptions {
  readonly countTokens?: CountTokens | undefined
  readonly encoding?: GptEncodingName | 'estimate' | undefined
}

/** What counts for a model: the caller's own function, the model's vocabulary, else an estimate. */
export async function counterFor(
  model: string | undefined,
  { countTokens: own, encoding }: TokenCounterOptions,
): Promise<TokenCounter> {
  const name = encoding ?? encodingOf(model ?? '')
  const count = own ?? (name && name !== 'estimate' ? await loadEncoding(name) : undefined)
  if (count !== undefined) return { method: 'exact', count, weigh: count }
  return { method: 'estimate', count: estimateTokens, weigh: tokenWeight }
}

/** A counter whose counts are multiplied by what was learned of a model. */
export function calibrated(counter: TokenCounter, factor: number): TokenCounter {
  if (factor === 1) return counter
  return {
    method: counter.method,
    count: (text) => Math.ceil(counter.count(text) * factor),
    weigh: (text) => counter.weigh(text) * factor,
  }
}

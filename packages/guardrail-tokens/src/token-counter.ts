import type { CountTokens } from '@lamella/text'
import { estimateTokens, tokenWeight } from '@lamella/text'
import type { GptEncodingName } from './gpt-encoding.ts'
import { encodingOf, loadEncoding } from './gpt-encoding.ts'

/** Method of counting tokens: with the model's own vocabulary, or by an estimate. */
export type CountMethod = 'exact' | 'estimate'

/** Counts the tokens of a model. */
export interface TokenCounter {
  readonly method: CountMethod
  readonly count: CountTokens
  /** Counts a piece of a text, so that the pieces add up to the text. */
  readonly weigh: CountTokens
}

export interface TokenCounterOptions {
  readonly countTokens?: CountTokens | undefined
  readonly encoding?: GptEncodingName | 'estimate' | undefined
}

/** Chooses the counter of a model: the caller's function, the model's vocabulary, or an estimate. */
export async function counterFor(
  model: string | undefined,
  { countTokens: own, encoding }: TokenCounterOptions,
): Promise<TokenCounter> {
  const name = encoding ?? encodingOf(model ?? '')
  const count = own ?? (name && name !== 'estimate' ? await loadEncoding(name) : undefined)
  if (count !== undefined) return { method: 'exact', count, weigh: count }
  return { method: 'estimate', count: estimateTokens, weigh: tokenWeight }
}

/** Multiplies the counts of a counter by a factor learned from the provider. */
export function calibrated(counter: TokenCounter, factor: number): TokenCounter {
  if (factor === 1) return counter
  return {
    method: counter.method,
    count: (text) => Math.ceil(counter.count(text) * factor),
    weigh: (text) => counter.weigh(text) * factor,
  }
}

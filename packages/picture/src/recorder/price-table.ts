import type { Usage } from '@lamella/core'

/** US dollars for a million tokens of a model. */
export interface TokenPrices {
  /** Price of input tokens that were not cached. */
  readonly input: number
  /** Price of output tokens, those of reasoning included. */
  readonly output: number
  /**
   * Price of input tokens that were read from the provider's prompt cache.
   * @default `input`
   */
  readonly cachedInput?: number | undefined
  /**
   * Price of input tokens that were written to it.
   * @default `input`
   */
  readonly cacheWrite?: number | undefined
}

/** Prices by `model` or `provider/model`. A date at the end of a model's name may be left out. */
export type PriceTable = Readonly<Record<string, TokenPrices>>

/** Cost of tokens of a model, in US dollars; `undefined` if the table has no price for it. */
export function costOf(
  usage: Usage,
  provider: string | undefined,
  model: string | undefined,
  prices: PriceTable | undefined,
): number | undefined {
  if (prices === undefined || model === undefined) return undefined
  const undated = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '')
  const names = [`${provider}/${model}`, model, `${provider}/${undated}`, undated]
  const name = names.find((known) => Object.hasOwn(prices, known))
  if (name === undefined) return undefined
  const { input, output, cachedInput = input, cacheWrite = input } = prices[name]!
  const { inputTokens = 0, outputTokens = 0 } = usage
  const { cachedInputTokens = 0, cacheWriteTokens = 0 } = usage
  const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens)
  const micros =
    plain * input +
    cachedInputTokens * cachedInput +
    cacheWriteTokens * cacheWrite +
    outputTokens * output
  return micros / 1_000_000
}

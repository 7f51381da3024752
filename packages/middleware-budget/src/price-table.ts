import type { Usage } from '@lamella/core'
import { LamellaError } from '@lamella/core'

/** US dollars for a million tokens. */
export interface TokenPrices {
  /** Price of input tokens. */
  readonly input: number
  /** Price of output tokens. */
  readonly output: number
  /**
   * Price of input tokens read from the provider's prompt cache.
   * @default `input`
   */
  readonly cachedInput?: number | undefined
  /**
   * Price of input tokens written to the prompt cache.
   * @default `input`
   */
  readonly cacheWrite?: number | undefined
  /**
   * Price of input tokens written to the prompt cache for an hour.
   * @default `cacheWrite`
   */
  readonly cacheWrite1h?: number | undefined
}

/** Prices by `model` or `provider/model`. A date at the end of a model's name may be left out. */
export type PriceTable = Readonly<Record<string, TokenPrices>>

/** Model that answers, as far as it is known. */
export interface ModelName {
  /** Name of the provider. */
  readonly provider: string | undefined
  /** Name of the model. */
  readonly model: string | undefined
}

/** Returns the cost of a usage in US dollars; `undefined` if the price is unknown. */
export type Price = (usage: Usage, model: ModelName) => number | undefined

/** Source of costs, such as `models` of `@lamella/models`. */
export interface PriceSource {
  /** Returns the cost of a usage in US dollars; `undefined` if the price is unknown. */
  cost(usage: Usage, model: ModelName): number | undefined
}

/** Makes the function that returns the cost of a usage. */
export function priceOf(prices: PriceTable | PriceSource | Price): Price {
  if (typeof prices === 'function') {
    return (usage, model) => {
      const cost = prices(usage, model)
      return typeof cost === 'number' && cost >= 0 && cost <= mostUsd ? cost : undefined
    }
  }
  if (isPriceSource(prices)) return priceOf((usage, model) => prices.cost(usage, model))
  return (usage, { provider, model = '' }) => {
    const undated = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '')
    const names = [`${provider}/${model}`, model, `${provider}/${undated}`, undated]
    const name = names.find((known) => Object.hasOwn(prices, known))
    return name === undefined ? undefined : costOf(usage, prices[name]!)
  }
}

/** Returns true for a source of prices. A model of a table may have the name `cost`, and is no function. */
export function isPriceSource(prices: PriceTable | PriceSource): prices is PriceSource {
  return typeof prices.cost === 'function'
}

/** Makes the error for a model without a price. */
export function unknownPrice(budget: string, model: ModelName): LamellaError {
  return new LamellaError(`${budget}: there is no price for the model ${nameOf(model)}`, {
    code: 'price_unknown',
  })
}

/** Name of a model with its provider. */
export function nameOf({ provider, model }: ModelName): string {
  return [provider, model].filter(Boolean).join('/')
}

function costOf(usage: Usage, prices: TokenPrices): number {
  const { inputTokens = 0, totalTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage
  const outputTokens = Math.max(usage.outputTokens ?? 0, totalTokens - inputTokens)
  const { cacheWrite1hTokens: hour = 0 } = usage
  const { input, output, cachedInput = input, cacheWrite = input } = prices
  const { cacheWrite1h = cacheWrite } = prices
  const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens)
  const micros =
    plain * input +
    cachedInputTokens * cachedInput +
    Math.max(0, cacheWriteTokens - hour) * cacheWrite +
    hour * cacheWrite1h +
    outputTokens * output
  return micros / 1_000_000
}

/** A cost above a trillion US dollars is no cost. */
const mostUsd = 1e12

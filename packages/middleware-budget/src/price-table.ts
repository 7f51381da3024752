import type { Usage } from '@lamella/core'
import { LamellaError } from '@lamella/core'

/** US dollars for a million tokens. */
export interface TokenPrices {
  readonly input: number
  readonly output: number
  /** Read from the provider's prompt cache. @default `input` */
  readonly cachedInput?: number | undefined
  /** Written to it. @default `input` */
  readonly cacheWrite?: number | undefined
  /** Written to it for an hour. @default `cacheWrite` */
  readonly cacheWrite1h?: number | undefined
}

/** Prices by `model` or `provider/model`. A date at the end of a model's name may be left out. */
export type PriceTable = Readonly<Record<string, TokenPrices>>

/** Who answers, as far as it is known. */
export interface ModelName {
  readonly provider: string | undefined
  readonly model: string | undefined
}

export type Price = (usage: Usage, model: ModelName) => number | undefined

/** Makes the function that says what tokens of a model cost, `undefined` where nobody knows. */
export function priceOf(prices: PriceTable | Price): Price {
  if (typeof prices === 'function') {
    return (usage, model) => {
      const cost = prices(usage, model)
      return Number.isFinite(cost) ? cost : undefined
    }
  }
  return (usage, { provider, model = '' }) => {
    const undated = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '')
    const names = [`${provider}/${model}`, model, `${provider}/${undated}`, undated]
    const name = names.find((known) => Object.hasOwn(prices, known))
    return name === undefined ? undefined : costOf(usage, prices[name]!)
  }
}

/** The error for a model without a price. */
export function unknownPrice(budget: string, { provider, model }: ModelName): LamellaError {
  const name = [provider, model].filter(Boolean).join('/')
  return new LamellaError(`${budget}: there is no price for the model ${name}`, {
    code: 'price_unknown',
  })
}

function costOf(usage: Usage, prices: TokenPrices): number {
  const { inputTokens = 0, totalTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage
  const { outputTokens = Math.max(0, totalTokens - inputTokens) } = usage
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

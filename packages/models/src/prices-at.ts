import type { Usage } from '@lamella/core'
import type { ModelPrice } from '@pydantic/genai-prices'
import { calcPrice } from '@pydantic/genai-prices'
import type { FoundModel } from './find-model.ts'
import type { ModelPrices, ModelRates } from './model-facts.ts'

/** Returns the prices of a model at a time; `undefined` if it is not sold by input and output tokens. */
export function pricesAt({ name, seller }: FoundModel, timestamp: Date): ModelPrices | undefined {
  const price = calcPrice({ input_tokens: 1 }, name, { provider: seller, timestamp })?.model_price
  const base = price && ratesFrom(price, 0)
  if (price === undefined || base === undefined) return undefined
  const starts = Object.values(price).flatMap((rate) =>
    typeof rate === 'object' ? rate.tiers.map(({ start }) => start) : [],
  )
  const tiers = [...new Set(starts)]
    .toSorted((left, right) => left - right)
    .map((start) => ({ aboveInputTokens: start, ...ratesFrom(price, start + 1)! }))
  return { ...base, ...(tiers.length > 0 && { tiers }) }
}

/** Returns the cost of a usage in US dollars, by the calculator of the source. */
export function costAt(
  usage: Usage,
  { name, seller }: FoundModel,
  timestamp: Date,
): number | undefined {
  const { input, read, write, hour, output } = countsOf(usage)
  const price = calcPrice(
    {
      input_tokens: input,
      output_tokens: output,
      ...(read > 0 && { cache_read_tokens: read }),
      ...(write > 0 && { cache_write_tokens: write }),
      ...(hour > 0 && { cache_write_1h_tokens: hour }),
    },
    name,
    { provider: seller, timestamp },
  )
  return price?.total_price
}

/** Returns the cost of a usage by prices, in US dollars. */
export function costBy(usage: Usage, prices: ModelPrices): number {
  const { input, read, write, hour, output } = countsOf(usage)
  const tier = prices.tiers?.findLast(({ aboveInputTokens }) => input > aboveInputTokens)
  const rates: ModelRates = tier ?? prices
  const { cachedInput = rates.input, cacheWrite = rates.input } = rates
  const { cacheWrite1h = cacheWrite } = rates
  const micros =
    (input - read - write) * rates.input +
    read * cachedInput +
    (write - hour) * cacheWrite +
    hour * cacheWrite1h +
    output * rates.output
  return micros / 1_000_000
}

/** The source rejects a usage whose parts exceed their sum, which a gateway may report. */
function countsOf(usage: Usage) {
  const count = (name: string): number => {
    const value = usage[name]
    return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0
  }
  const hour = count('cacheWrite1hTokens')
  const read = count('cachedInputTokens')
  const write = Math.max(count('cacheWriteTokens'), hour)
  const input = Math.max(count('inputTokens'), read + write)
  const output = Math.max(count('outputTokens'), count('totalTokens') - input)
  return { input, read, write, hour, output }
}

function ratesFrom(price: ModelPrice, inputTokens: number): ModelRates | undefined {
  const rate = (unit: string): number | undefined => {
    const known = price[unit]
    if (typeof known !== 'object') return known
    return known.tiers.findLast(({ start }) => inputTokens > start)?.price ?? known.base
  }
  const input = rate('input_mtok')
  const output = rate('output_mtok')
  if (input === undefined || output === undefined) return undefined
  const cachedInput = rate('cache_read_mtok')
  const cacheWrite = rate('cache_write_mtok')
  const cacheWrite1h = rate('cache_write_1h_mtok')
  return {
    input,
    output,
    ...(cachedInput !== undefined && { cachedInput }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(cacheWrite1h !== undefined && { cacheWrite1h }),
  }
}

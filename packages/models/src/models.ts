import type { Usage } from '@lamella/core'
import { wrongOption } from '@lamella/core/authoring'
import { findModel } from './find-model.ts'
import { limitsOf } from './limits-of.ts'
import type { ModelFacts, ModelName, ModelPrices } from './model-facts.ts'
import { costAt, costBy, pricesAt } from './prices-at.ts'

/**
 * Own models by `model` or `provider/model`: their facts, or the `provider/model` that they are, such as
 * the model of a deployment.
 */
export type OwnModels = Readonly<Record<string, ModelFacts | string>>

/** Facts of models by name. */
export interface Models {
  /**
   * Returns the facts of a model; `undefined` if it is not known.
   *
   * @param at - time of the prices; now by default
   */
  facts(provider: string | undefined, model: string, at?: Date): ModelFacts | undefined
  /**
   * Returns the cost of a usage in US dollars; `undefined` if the price is not known.
   *
   * @param at - time of the call; now by default
   */
  cost(usage: Usage, model: ModelName, at?: Date): number | undefined
  /**
   * Returns the same models with own ones, which are looked up first.
   *
   * @throws TypeError or RangeError that names the model and the value
   * @example
   * ```ts
   * import { models } from '@lamella/models'
   *
   * const ours = models.extend({
   *   'azure-openai/chat-prod': 'azure/gpt-4.1',
   *   'my-model': { contextTokens: 32_000, prices: { input: 0.5, output: 1 } },
   * })
   * ```
   */
  extend(own: OwnModels): Models
}

class KnownModels implements Models {
  readonly #own: OwnModels

  constructor(own: OwnModels) {
    this.#own = own
  }

  facts(provider: string | undefined, model: string, at = new Date()): ModelFacts | undefined {
    const own = this.#ownOf(provider, model)
    if (typeof own === 'object') return own
    const found = own === undefined ? findModel(provider, model) : findModel(undefined, own)
    if (found === undefined) return undefined
    const { context_window: contextTokens } = found.info
    const prices = pricesAt(found, at)
    return {
      ...limitsOf(found.name),
      ...(contextTokens !== undefined && { contextTokens }),
      ...(prices !== undefined && { prices }),
    }
  }

  cost(usage: Usage, { provider, model = '' }: ModelName, at = new Date()): number | undefined {
    const own = this.#ownOf(provider, model)
    if (typeof own === 'object') return own.prices && costBy(usage, own.prices)
    const found = own === undefined ? findModel(provider, model) : findModel(undefined, own)
    return found && costAt(usage, found, at)
  }

  extend(own: OwnModels): Models {
    checkOwn(own)
    return new KnownModels({ ...this.#own, ...own })
  }

  #ownOf(provider: string | undefined, model: string): ModelFacts | string | undefined {
    const name = [`${provider}/${model}`, model].find((key) => Object.hasOwn(this.#own, key))
    return name === undefined ? undefined : this.#own[name]
  }
}

/** Facts of the models that are known, from data in this package. No network is used. */
export const models: Models = new KnownModels({})

/**
 * Returns the facts of a model; `undefined` if it is not known.
 *
 * @example
 * ```ts
 * import { modelFacts } from '@lamella/models'
 *
 * modelFacts('anthropic', 'claude-sonnet-4-5')?.contextTokens // 200000
 * ```
 */
export function modelFacts(provider: string | undefined, model: string): ModelFacts | undefined {
  return models.facts(provider, model)
}

function checkOwn(own: OwnModels): void {
  if (own !== Object(own)) throw wrongOption(owner, 'own', 'an object', own)
  for (const [name, facts] of Object.entries(own)) {
    if (typeof facts === 'string') {
      if (findModel(undefined, facts) !== undefined) continue
      throw wrongOption(owner, name, 'facts, or the provider/model of a known model', facts)
    }
    if (facts !== Object(facts)) throw wrongOption(owner, name, 'facts or a name', facts)
    checkCount(`${name}.contextTokens`, facts.contextTokens)
    checkCount(`${name}.outputTokens`, facts.outputTokens)
    if (facts.prices !== undefined) checkPrices(`${name}.prices`, facts.prices)
  }
}

function checkCount(place: string, count: unknown): void {
  if (count === undefined || (Number.isSafeInteger(count) && (count as number) > 0)) return
  throw wrongOption(owner, place, 'a whole number from 1 up', count)
}

function checkPrices(place: string, prices: ModelPrices): void {
  const { tiers = [], ...rates } = prices
  for (const [name, price] of Object.entries({ ...needed, ...rates })) {
    if (price === undefined && name !== 'input' && name !== 'output') continue
    if (typeof price === 'number' && Number.isFinite(price) && price >= 0) continue
    throw wrongOption(owner, `${place}.${name}`, 'a number from 0 up', price)
  }
  for (const [index, tier] of tiers.entries()) checkPrices(`${place}.tiers[${index}]`, tier)
}

const owner = 'models.extend'
const needed = { input: undefined, output: undefined }

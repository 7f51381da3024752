import type { OptionRules, StoreNeed } from '@lamella/core/authoring'
import { checkOptions, checkStore, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { BudgetCounter, BudgetLimits, BudgetOptions } from './budget-options.ts'
import type { PriceSource, PriceTable } from './price-table.ts'
import { isPriceSource } from './price-table.ts'

const owner = 'budget'

/** Extensions that a store of shared sums needs. */
export const storeNeeds: readonly StoreNeed[] = ['increment']

export const counters: readonly BudgetCounter[] = [
  'modelCalls',
  'toolCalls',
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'costUsd',
  'wallMs',
]

/** Counters that are exhausted once no further call can be paid for. */
export const meteredCounters: readonly BudgetCounter[] = counters.slice(2)

/** Counters to check before a run and before each model call. */
export const modelCallCounters: readonly BudgetCounter[] = ['modelCalls', ...meteredCounters]

/**
 * Checks the options of `budget`.
 * @throws TypeError or RangeError that names the option and the value
 */
export function checkBudgetOptions(options: BudgetOptions): void {
  const { limits = {}, scope, window, prices, thresholds = [], degrade, store } = options ?? {}
  checkOptions(owner, options, {
    ...middlewareRules,
    limits: limitRules,
    scope: typeof scope === 'function' ? 'any' : ['run', 'session', 'tenant'],
    window: typeof window === 'number' ? 1 : ['day', 'month'],
    store: 'any',
    onStoreError: ['fail', 'open'],
    storeTimeoutMs: 'ms',
    prices: 'any',
    onUnknownPrice: ['error', 'ignore'],
    estimate: 'function?',
    thresholds: 'any',
    degrade: { at: 'any', options: 'any', client: 'any' },
    note: 'any',
    onToolLimit: ['stop', 'refuse'],
    message: 'any',
    clock: 'any',
  })
  if (store !== undefined) checkStore(owner, store, storeNeeds)
  if (limits !== Object(limits)) throw wrongOption(owner, 'limits', 'an object', limits)
  for (const [name, limit] of Object.entries(limits)) checkLimit(name, limit)
  if (limits.costUsd !== undefined && prices === undefined) {
    throw wrongOption(owner, 'prices', 'given with `limits.costUsd`', prices)
  }
  if (window !== undefined && (scope ?? 'run') === 'run') {
    throw wrongOption(owner, 'window', 'left out with the scope run', window)
  }
  if (prices !== undefined && typeof prices !== 'function') checkPrices(prices)
  if (!Array.isArray(thresholds)) throw wrongOption(owner, 'thresholds', 'a list', thresholds)
  for (const share of thresholds) checkShare('thresholds', share)
  if (degrade !== undefined) checkShare('degrade.at', degrade.at ?? 0.8)
}

const limitRules: OptionRules<BudgetLimits> = {
  modelCalls: 'any',
  toolCalls: 'any',
  inputTokens: 'any',
  outputTokens: 'any',
  totalTokens: 'any',
  costUsd: 'any',
  wallMs: 'any',
  toolCallsPerTool: 'any',
  repeatedToolCalls: 'any',
}

function checkLimit(name: string, limit: unknown, place = `limits.${name}`): void {
  if (limit === undefined || (name === 'repeatedToolCalls' && limit === false)) return
  if (name === 'toolCallsPerTool' && typeof limit === 'object' && limit !== null) {
    for (const [tool, most] of Object.entries(limit)) {
      checkLimit('toolCalls', most, `${place} of ${tool}`)
    }
    return
  }
  const isCost = name === 'costUsd'
  const least = name === 'repeatedToolCalls' ? 1 : 0
  const isValid = isCost
    ? Number.isFinite(limit) && (limit as number) >= 0
    : Number.isInteger(limit) && (limit as number) >= least
  if (isValid) return
  throw wrongOption(owner, place, `a ${isCost ? 'number' : 'whole number'} from ${least} up`, limit)
}

const needed = { input: undefined, output: undefined }

/** Rejects a price that is not a number: its cost would be NaN, which is above no limit. */
function checkPrices(prices: PriceTable | PriceSource): void {
  if (prices !== Object(prices)) throw wrongOption(owner, 'prices', 'a table or a function', prices)
  if (isPriceSource(prices)) return
  for (const [model, table] of Object.entries(prices)) {
    for (const [name, price] of Object.entries({ ...needed, ...table })) {
      const isLeftOut = price === undefined && !Object.hasOwn(needed, name)
      if (!isLeftOut) checkPrice(`${model}.${name}`, price)
    }
  }
}

function checkPrice(place: string, price: unknown): void {
  if (typeof price === 'number' && Number.isFinite(price) && price >= 0) return
  throw wrongOption(owner, `prices.${place}`, 'a number from 0 up', price)
}

function checkShare(place: string, share: number): void {
  if (!(share > 0 && share <= 1)) {
    throw wrongOption(owner, place, 'above 0 and at most 1', share)
  }
}

import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { BudgetCounter, BudgetOptions } from './budget-options.ts'

const owner = 'budget'

export const counters: readonly BudgetCounter[] = [
  'modelCalls',
  'toolCalls',
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'costUsd',
  'wallMs',
]

/** What tells that no further call can be paid for. */
export const meteredCounters: readonly BudgetCounter[] = counters.slice(2)

/** What is looked at before a run and before each model call. */
export const modelCallCounters: readonly BudgetCounter[] = ['modelCalls', ...meteredCounters]

/** @throws TypeError or RangeError that names the option and the value */
export function checkBudgetOptions(options: BudgetOptions): void {
  const { limits = {}, scope, window, prices, thresholds = [], degrade } = options
  checkOptions(owner, options, {
    mode: ['enforce', 'shadow', 'off'],
    onStoreError: ['fail', 'open'],
    onUnknownPrice: ['error', 'ignore'],
    onToolLimit: ['stop', 'refuse'],
    storeTimeoutMs: 1,
  })
  for (const name of ['when', 'onEvent', 'estimate'] as const) {
    if (options[name] !== undefined) checkOptions(owner, options, { [name]: 'function' })
  }
  const known = [...counters, 'toolCallsPerTool', 'repeatedToolCalls']
  for (const [name, limit] of Object.entries(limits)) {
    if (!known.includes(name)) throw wrongOption(owner, 'limits', `of ${known.join(', ')}`, name)
    checkLimit(name, limit)
  }
  if (limits.costUsd !== undefined && prices === undefined) {
    throw wrongOption(owner, 'prices', 'given where `limits.costUsd` is', prices)
  }
  if (typeof scope !== 'function') {
    checkOptions(owner, options, { scope: ['run', 'session', 'tenant'] })
  }
  if (typeof window !== 'number') checkOptions(owner, options, { window: ['day', 'month'] })
  else checkOptions(owner, options, { window: 1 })
  if (window !== undefined && (scope ?? 'run') === 'run') {
    throw wrongOption(owner, 'window', 'left out where each run has its own budget', window)
  }
  for (const share of thresholds) checkShare('thresholds', share)
  if (degrade !== undefined) checkShare('degrade.at', degrade.at ?? 0.8)
}

function checkLimit(name: string, limit: unknown): void {
  const place = `limits.${name}`
  if (limit === undefined || (name === 'repeatedToolCalls' && limit === false)) return
  if (name === 'toolCallsPerTool' && typeof limit === 'object' && limit !== null) {
    for (const [tool, most] of Object.entries(limit)) {
      checkOptions(owner, { [`${place} of ${tool}`]: most }, { [`${place} of ${tool}`]: 0 })
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

function checkShare(place: string, share: number): void {
  if (!(share > 0 && share <= 1)) {
    throw wrongOption(owner, place, 'above 0 and at most 1', share)
  }
}

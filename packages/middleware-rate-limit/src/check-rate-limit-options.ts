import { checkOptions, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { RateLimit, RateLimitLevel, RateLimitOptions } from './rate-limit-options.ts'
import { limitStoreOf } from './rate-limit-store.ts'

const units = ['requests', 'inputTokens', 'outputTokens', 'totalTokens', 'cost', 'concurrency']
const owner = 'rateLimit'

/**
 * Checks the options of `rateLimit`.
 * @throws TypeError or RangeError that names the option and the value
 */
export function checkRateLimitOptions<Level extends RateLimitLevel>(
  options: RateLimitOptions<Level>,
): void {
  const { limits, level, onLimit, maxWaitMs, outputFactor, store: given } = options ?? {}
  const store = given && limitStoreOf(given)
  checkOptions(owner, options, {
    ...middlewareRules,
    limits: 'any',
    level: ['agent', 'chat', 'function'],
    key: 'function?',
    algorithm: store?.kinds ?? ['sliding-window', 'token-bucket'],
    onLimit: typeof onLimit === 'function' ? 'any' : ['wait', 'reject'],
    maxWaitMs: maxWaitMs === Infinity ? 'any' : 0,
    maxQueue: 0,
    priority: 'function?',
    estimate: 'function?',
    outputFactor: 'any',
    price: 'function?',
    adaptive: 'any',
    pauseMs: 0,
    store: 'any',
    onStoreError: ['local', 'fail'],
    storeTimeoutMs: 'ms',
    clock: 'any',
  })
  if (!Array.isArray(limits) || limits.length === 0) {
    throw wrongOption(owner, 'limits', 'a list of limits, at least one', limits)
  }
  if (outputFactor !== undefined && !(outputFactor >= 0)) {
    throw wrongOption(owner, 'outputFactor', 'a number from 0 up', outputFactor)
  }
  for (const [index, limit] of limits.entries()) checkLimit(limit, index, options)
  if (level === 'function' && limits.some(({ unit }) => isMetered(unit))) {
    throw wrongOption(owner, 'level', 'agent or chat where tokens or cost are limited', level)
  }
}

function checkLimit<Level extends RateLimitLevel>(
  given: RateLimit<Level>,
  index: number,
  { price, store }: RateLimitOptions<Level>,
): void {
  const rules = { unit: 'any', limit: 'any', windowMs: 'any', key: 'function?' } as const
  checkOptions(owner, { limits: { [index]: given } }, { limits: { [index]: rules } })
  const place = `limits.${index}`
  const { unit, limit, windowMs } = given
  if (!units.includes(unit)) {
    throw wrongOption(owner, `${place}.unit`, `one of ${units.join(', ')}`, unit)
  }
  const isValid =
    unit === 'cost' ? limit > 0 && limit < Infinity : Number.isInteger(limit) && limit > 0
  if (!isValid) {
    const wish = unit === 'cost' ? 'a number above 0' : 'a whole number from 1 up'
    throw wrongOption(owner, `${place}.limit`, wish, limit)
  }
  if (unit === 'cost' && typeof price !== 'function') {
    throw wrongOption(owner, 'price', 'a function where cost is limited', price)
  }
  if (unit !== 'concurrency') {
    if (!Number.isInteger(windowMs) || windowMs! < 1) {
      throw wrongOption(owner, `${place}.windowMs`, 'a whole number from 1 up', windowMs)
    }
  } else if (windowMs !== undefined) {
    throw wrongOption(owner, `${place}.windowMs`, 'left out for concurrency', windowMs)
  } else if (store !== undefined && !limitStoreOf(store).kinds.includes('concurrency')) {
    throw wrongOption(owner, `${place}.unit`, 'one that the store can count', unit)
  }
}

/** Tells whether the amount of a call is known only after it. */
export function isMetered(unit: RateLimit['unit']): boolean {
  return unit !== 'requests' && unit !== 'concurrency'
}

export { rateLimit } from './rate-limit.ts'
export type {
  RateLimit,
  RateLimitEvent,
  RateLimitLevel,
  RateLimitOptions,
} from './rate-limit-options.ts'
export { RateLimitError } from './rate-limit-error.ts'
export type { RateLimitDenial } from './rate-limit-error.ts'
export type { Claim, RateLimitStore, Restriction, Settlement } from './rate-limit-store.ts'
export { flexibleLimitStore } from './flexible-limit-store.ts'
export type { FlexibleLimiter, FlexibleLimiterOptions } from './flexible-limit-store.ts'

import { isProviderError } from '@lamella/core'
import type { RateLimitInfo } from '@lamella/core/authoring'
import type { RateLimitUnit } from './rate-limit-options.ts'
import type { Claim, Restriction } from './rate-limit-store.ts'

/** A claim that the provider may know something about. */
export interface ProviderClaim {
  readonly unit: RateLimitUnit
  readonly claim: Claim
}

/** How long the provider wants to be left alone, if it said so. */
export function pauseAfter(error: unknown, defaultMs: number): number | undefined {
  if (!isProviderError(error) || error.kind !== 'rate_limit') return undefined
  // A call that can never pass says nothing about the others.
  return error.retry.retryable ? (error.retry.afterMs ?? defaultMs) : undefined
}

/** What is left of the provider's limits, by its own account. */
export function restrictionsOf(
  claims: readonly ProviderClaim[],
  told: unknown,
  now: number,
): readonly Restriction[] {
  const info = told as RateLimitInfo | undefined
  return claims.flatMap(({ unit, claim }) => {
    const { remaining, resetAt } = info?.[windows[unit] ?? 'requests'] ?? {}
    if (windows[unit] === undefined || remaining === undefined) return []
    const forMs = (resetAt ?? now + claim.windowMs) - now
    // What was true when an answer began need not be true at its end.
    return forMs > 0 && remaining < claim.limit ? [{ claim, remaining, forMs }] : []
  })
}

const windows: Partial<Record<RateLimitUnit, keyof RateLimitInfo>> = {
  requests: 'requests',
  totalTokens: 'tokens',
  inputTokens: 'inputTokens',
  outputTokens: 'outputTokens',
}

import { isProviderError } from '@lamella/core'
import type { RateLimitInfo } from '@lamella/core/authoring'
import type { RateLimitUnit } from './rate-limit-error.ts'
import type { Claim, Restriction } from './rate-limit-store.ts'

/** Claim on a limit that the provider may also report. */
export interface ProviderClaim {
  readonly unit: RateLimitUnit
  readonly claim: Claim
}

/** Returns the milliseconds that the provider asks to wait, if it does. */
export function pauseAfter(error: unknown, defaultMs: number): number | undefined {
  if (!isProviderError(error) || error.kind !== 'rate_limit') return undefined
  // A call that can never pass tells nothing about the others.
  return error.retry.retryable ? (error.retry.afterMs ?? defaultMs) : undefined
}

/** Reads the remaining amounts that the provider reports for its limits. */
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
    // Facts of the start of an answer may be outdated at its end.
    return forMs > 0 && remaining < claim.limit ? [{ claim, remaining, forMs }] : []
  })
}

const windows: Partial<Record<RateLimitUnit, keyof RateLimitInfo>> = {
  requests: 'requests',
  totalTokens: 'tokens',
  inputTokens: 'inputTokens',
  outputTokens: 'outputTokens',
}

import type { KeyValueStore } from '@lamella/core'
import type { LimitClaim, LimitGrant, StoreNeed } from '@lamella/core/authoring'
import { checkStore } from '@lamella/core/authoring'

/** The part of a limit that a call takes. */
export interface Claim extends Omit<LimitClaim, 'kind'> {
  /**
   * How the amount returns. `fixed-window` is of stores that can count no other, such as
   * `flexibleLimitStore`.
   */
  readonly kind: LimitClaim['kind'] | 'fixed-window'
}

/** A claim, and the actual usage of its call. */
export interface Settlement {
  /** The original claim. */
  readonly claim: Claim
  /** Amount that the call used; 0 returns all of it. */
  readonly used: number
}

/** Report of the provider about a limit. */
export interface Restriction {
  /** The limit. */
  readonly claim: Claim
  /** Remaining amount. 0 admits nothing. */
  readonly remaining: number
  /** Milliseconds for which that holds. */
  readonly forMs: number
}

/**
 * Counts the amounts that calls take from limits, if no `KeyValueStore` can. Each method is atomic.
 * A claim that is settled, renewed or restricted may have expired; then nothing happens.
 */
export interface RateLimitStore {
  /** Takes all claims for the call `id`, or none. */
  take(id: string, claims: readonly Claim[]): LimitGrant | Promise<LimitGrant>
  /** Replaces a claim with the actual usage; 0 returns all of it. Ends concurrent claims. */
  settle(id: string, settlements: readonly Settlement[]): void | Promise<void>
  /** Reduces remaining amounts for a while. */
  restrict(restrictions: readonly Restriction[]): void | Promise<void>
  /** Extends the leases of the running call `id`. Required with a `leaseMs`. */
  renew?(id: string, claims: readonly Claim[]): void | Promise<void>
  /** Milliseconds that a concurrent call counts without being renewed. @default until it is settled */
  readonly leaseMs?: number | undefined
  /** Milliseconds between two checks for capacity that other processes released. @default never */
  readonly pollMs?: number | undefined
  /** Kinds of claims that it supports, the preferred one first. */
  readonly kinds: readonly Claim['kind'][]
}

/** The store that counts. @throws TypeError if a store has no sliding windows */
export function limitStoreOf(store: KeyValueStore | RateLimitStore): RateLimitStore {
  if ('kinds' in Object(store)) return store as RateLimitStore
  checkStore('rateLimit', store, storeNeeds)
  // What is asked of it is of its kinds.
  return { ...store.limits, kinds } as RateLimitStore
}

/** Extensions that a store of limits needs. */
export const storeNeeds: readonly StoreNeed[] = ['limits']

const kinds: RateLimitStore['kinds'] = ['sliding-window', 'token-bucket', 'concurrency']

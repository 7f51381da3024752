/** Amount that a call takes of a limit. */
export interface LimitClaim {
  /** Key of the limit: calls with the same key share it. */
  readonly key: string
  /**
   * Return of the amount: after the window (`sliding-window`), gradually (`token-bucket`), or at the end of
   * the call (`concurrency`).
   */
  readonly kind: 'sliding-window' | 'token-bucket' | 'concurrency'
  /** Maximum amount of all calls together. */
  readonly limit: number
  /** Length of the window in milliseconds; 0 for `concurrency`. */
  readonly windowMs: number
  /** Amount of this call. */
  readonly amount: number
}

/** Result of `StoreLimits.take`. */
export type LimitGrant =
  | {
      /** All claims are taken. */
      readonly granted: true
      /** Remaining amount of each limit. */
      readonly remaining: readonly number[]
    }
  | {
      /** Nothing is taken. */
      readonly granted: false
      /** Remaining amount of each limit. */
      readonly remaining: readonly number[]
      /** Index of the claim that has to wait longest. */
      readonly index: number
      /** Time in milliseconds until a retry can succeed; `Infinity` if a call has to end first. */
      readonly retryAfterMs: number
    }

/** A claim with the amount that its call used. */
export interface LimitSettlement {
  /** The claim that was taken. */
  readonly claim: LimitClaim
  /** Amount that the call used; 0 returns all of it. */
  readonly used: number
}

/** Limit as the provider reports it. */
export interface LimitRestriction {
  /** The limit. */
  readonly claim: LimitClaim
  /** Remaining amount. 0 accepts nothing. */
  readonly remaining: number
  /** Time in milliseconds for which the report holds. */
  readonly forMs: number
}

/**
 * Counts the amounts that calls take of limits. Each method is atomic. Running it twice with the same `id`
 * has the effect of running it once, so a lost reply counts nothing twice.
 */
export interface StoreLimits {
  /** Takes all claims for the call `id`, or none. */
  take(id: string, claims: readonly LimitClaim[]): LimitGrant | Promise<LimitGrant>
  /** Replaces what the call claimed with what it used, and ends its concurrency. */
  settle(id: string, settlements: readonly LimitSettlement[]): void | Promise<void>
  /** Lowers the remaining amounts for a while. */
  restrict(restrictions: readonly LimitRestriction[]): void | Promise<void>
  /** Prolongs the leases of a running call. */
  renew(id: string, claims: readonly LimitClaim[]): void | Promise<void>
  /** Time in milliseconds that concurrency counts without renewal. @default until it is settled */
  readonly leaseMs?: number | undefined
  /** Interval in milliseconds for checking what other processes returned. @default never */
  readonly pollMs?: number | undefined
}

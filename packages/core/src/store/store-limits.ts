/** The part of a limit that a call takes. */
export interface LimitClaim {
  /** Names the limit: calls with the same key share it. */
  readonly key: string
  /**
   * How the amount returns: when the window has passed (`sliding-window`), bit by bit (`token-bucket`),
   * or when the call ends (`concurrency`).
   */
  readonly kind: 'sliding-window' | 'token-bucket' | 'concurrency'
  /** The most that calls may take together. */
  readonly limit: number
  /** Length of the window in milliseconds; 0 for `concurrency`. */
  readonly windowMs: number
  /** What this call takes. */
  readonly amount: number
}

/** The answer to `StoreLimits.take`. */
export type LimitGrant =
  | {
      /** All claims are taken. */
      readonly granted: true
      /** What is left of each limit. */
      readonly remaining: readonly number[]
    }
  | {
      /** Nothing is taken. */
      readonly granted: false
      /** What is left of each limit. */
      readonly remaining: readonly number[]
      /** Index of the claim that has to wait longest. */
      readonly index: number
      /** Milliseconds until another try is worthwhile; `Infinity` if only the end of a call helps. */
      readonly retryAfterMs: number
    }

/** A claim, and what its call really used. */
export interface LimitSettlement {
  /** The claim, as it was taken. */
  readonly claim: LimitClaim
  /** What the call used; 0 returns all of it. */
  readonly used: number
}

/** What a provider says about a limit. */
export interface LimitRestriction {
  /** The limit. */
  readonly claim: LimitClaim
  /** What is left of it. 0 lets nothing through. */
  readonly remaining: number
  /** Milliseconds for which that holds. */
  readonly forMs: number
}

/**
 * Counts what calls take of limits. Each method is one step: no other process sees half of it. Each may
 * run twice with one `id` and has the effect of one, so a lost reply counts nothing twice.
 */
export interface StoreLimits {
  /** Takes all claims for the call `id`, or none. */
  take(id: string, claims: readonly LimitClaim[]): LimitGrant | Promise<LimitGrant>
  /** Replaces what the call claimed with what it used, and ends its concurrency. */
  settle(id: string, settlements: readonly LimitSettlement[]): void | Promise<void>
  /** Lets less through for a while. */
  restrict(restrictions: readonly LimitRestriction[]): void | Promise<void>
  /** Prolongs the leases of a call that still runs. */
  renew(id: string, claims: readonly LimitClaim[]): void | Promise<void>
  /** Milliseconds that concurrency counts without being renewed. @default until it is settled */
  readonly leaseMs?: number | undefined
  /** Milliseconds between two looks for what other processes returned. @default never */
  readonly pollMs?: number | undefined
}

/** A part of a limit that a call takes for itself. */
export interface Claim {
  /** Of the limit: what is counted together. */
  readonly key: string
  /** How it comes back: when the window has passed, bit by bit, or when the call is over. */
  readonly kind: 'sliding-window' | 'token-bucket' | 'fixed-window' | 'concurrency'
  readonly limit: number
  /** 0 for concurrency. */
  readonly windowMs: number
  readonly amount: number
}

/** Whether a call may go on. */
export type Grant =
  | { readonly granted: true; readonly remaining: readonly number[] }
  | {
      readonly granted: false
      /** What is left of each limit. */
      readonly remaining: readonly number[]
      /** The claim that has to wait longest. */
      readonly index: number
      /** When it is worth another try; `Infinity` where only the end of another call helps. */
      readonly retryAfterMs: number
    }

/** What a call came to: a claim, and what it has really used. */
export interface Settlement {
  readonly claim: Claim
  readonly used: number
}

/** What the provider says about a limit. */
export interface Restriction {
  readonly claim: Claim
  /** What is left of it. 0 lets nothing through. */
  readonly remaining: number
  readonly forMs: number
}

/**
 * Counts what is used of limits. Each method acts in one step: nobody else sees half of it. What is
 * settled, renewed or restricted may be gone already; then nothing happens.
 */
export interface RateLimitStore {
  /** Takes all claims for the call `id`, or none. */
  take(id: string, claims: readonly Claim[]): Grant | Promise<Grant>
  /** Replaces what was claimed by what was used; 0 gives it all back. Ends what is concurrent. */
  settle(id: string, settlements: readonly Settlement[]): void | Promise<void>
  /** Lets less through for a while. */
  restrict(restrictions: readonly Restriction[]): void | Promise<void>
  /** Says that the call `id` still runs. Needed where there is a `leaseMs`. */
  renew?(id: string, claims: readonly Claim[]): void | Promise<void>
  /** How long a concurrent call counts without being renewed. @default until it is settled */
  readonly leaseMs?: number | undefined
  /** How often to look whether other processes gave something back. @default never */
  readonly pollMs?: number | undefined
  /** Kinds of claims that it can count, the one it does best first. */
  readonly kinds: readonly Claim['kind'][]
}

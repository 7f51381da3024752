import type { LimitGrant, Clock } from '@lamella/core/authoring'
import { memoryStore } from '@lamella/core'
import { withinStoreTime } from '@lamella/core/authoring'
import type { Claim, RateLimitStore } from './rate-limit-store.ts'
import { limitStoreOf } from './rate-limit-store.ts'

/** Settings of a `GuardedStore`. */
export interface GuardedStoreOptions {
  readonly store: RateLimitStore
  readonly clock: Clock
  readonly timeoutMs: number
  /** True to count in this process while the store fails. */
  readonly isLocal: boolean
}

/** Grant or denial, and the store that decided. */
export interface Answer {
  readonly grant: LimitGrant
  readonly store: RateLimitStore
  /** True if the store failed and this process counted. */
  readonly isLocal: boolean
}

/**
 * Wraps a store that may fail: waits for it up to a time limit, then counts in this process if
 * configured.
 */
export class GuardedStore {
  readonly #options: GuardedStoreOptions
  readonly #local: RateLimitStore

  constructor(options: GuardedStoreOptions) {
    this.#options = options
    this.#local = limitStoreOf(memoryStore({ clock: options.clock }))
  }

  async take(id: string, claims: readonly Claim[]): Promise<Answer> {
    const { store, isLocal } = this.#options
    let asked: LimitGrant | Promise<LimitGrant> | undefined
    try {
      asked = store.take(id, claims)
      return { grant: await this.#inTime(asked), store, isLocal: false }
    } catch (error) {
      // The store may still take them later.
      const giveBack = (): unknown =>
        store.settle(
          id,
          claims.map((claim) => ({ claim, used: 0 })),
        )
      if (asked instanceof Promise) asked.then(giveBack).catch(() => {})
      if (!isLocal) throw error
      return { grant: await this.#local.take(id, claims), store: this.#local, isLocal: true }
    }
  }

  /** Runs work whose failure does no harm to the call. Resolves to true if it succeeded. */
  async attempt(work: () => void | Promise<void>): Promise<boolean> {
    try {
      await this.#inTime(work())
      return true
    } catch {
      return false
    }
  }

  #inTime<Value>(work: Value | Promise<Value>): Value | Promise<Value> {
    // What answers at once needs no clock.
    if (!(work instanceof Promise)) return work
    const { clock, timeoutMs } = this.#options
    return withinStoreTime(work, { clock, timeoutMs })
  }
}

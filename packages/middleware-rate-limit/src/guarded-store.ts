import type { Clock } from '@lamella/core/authoring'
import { memoryLimitStore } from './memory-limit-store.ts'
import type { Claim, Grant, RateLimitStore } from './rate-limit-store.ts'

export interface GuardedStoreOptions {
  readonly store: RateLimitStore
  readonly clock: Clock
  readonly timeoutMs: number
  /** Whether to count in this process while the store fails. */
  readonly isLocal: boolean
}

/** What came of a try, and who counted it. */
export interface Answer {
  readonly grant: Grant
  readonly store: RateLimitStore
  /** Whether the store failed, so that it was counted here. */
  readonly isLocal: boolean
}

/** A store that may fail: it is given up on in time, and counting goes on here if that is wished. */
export class GuardedStore {
  readonly #options: GuardedStoreOptions
  readonly #local: RateLimitStore

  constructor(options: GuardedStoreOptions) {
    this.#options = options
    this.#local = memoryLimitStore({ clock: options.clock })
  }

  async take(id: string, claims: readonly Claim[]): Promise<Answer> {
    const { store, isLocal } = this.#options
    let asked: Grant | Promise<Grant> | undefined
    try {
      asked = store.take(id, claims)
      return { grant: await this.#inTime(asked), store, isLocal: false }
    } catch (error) {
      // It may take them all the same, later.
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

  /** Does something that may fail without harm to the call; resolves to whether it did not. */
  async attempt(work: () => void | Promise<void>): Promise<boolean> {
    try {
      await this.#inTime(work())
      return true
    } catch {
      return false
    }
  }

  async #inTime<Value>(work: Value | Promise<Value>): Promise<Value> {
    if (!(work instanceof Promise)) return work
    const { clock, timeoutMs } = this.#options
    const done = new AbortController()
    const late = clock.sleep(timeoutMs, done.signal).then(() => {
      throw new Error(`the store did not answer within ${timeoutMs} ms`)
    })
    late.catch(() => {})
    try {
      return await Promise.race([work, late])
    } finally {
      done.abort()
    }
  }
}

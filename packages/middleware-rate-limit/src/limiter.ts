import { createId } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import type { GuardedStoreOptions } from './guarded-store.ts'
import { GuardedStore } from './guarded-store.ts'
import type { Claim, RateLimitStore, Restriction } from './rate-limit-store.ts'
import type { Caller } from './waiting-line.ts'
import { WaitingLine } from './waiting-line.ts'

/** Claims that a call holds. */
export interface Hold {
  /** Remaining amount of each limit. */
  readonly remaining: readonly number[]
  /** True if only this process counted, because the store failed. */
  readonly isLocal: boolean
  /**
   * Reports the usage of the call and ends its concurrent claims. Resolves to true if the store took it;
   * otherwise windows and leases expire by themselves.
   */
  settle(used: (claim: Claim, index: number) => number): Promise<boolean>
}

/** Queues of calls by their claims. It belongs to the middleware and holds nothing of a run. */
export class Limiter {
  readonly #store: RateLimitStore
  readonly #clock: Clock
  readonly #guarded: GuardedStore
  readonly #lines = new Map<string, WaitingLine>()
  /** Queues that wait for a limit, by its key. */
  readonly #waiting = new Map<string, Set<WaitingLine>>()

  constructor(options: GuardedStoreOptions) {
    this.#store = options.store
    this.#clock = options.clock
    this.#guarded = new GuardedStore(options)
  }

  /** Resolves once the call has all its claims; until then it waits in its queue. */
  async acquire(caller: Omit<Caller, 'id'>): Promise<Hold> {
    const id = createId('take')
    const { claims } = caller
    const { grant, store, isLocal } = await this.#lineOf(claims).enter({ ...caller, id })
    const lease = this.#renew(store, id, claims)
    return {
      remaining: grant.remaining,
      isLocal,
      settle: async (used) => {
        // With a reason, since `abort` makes an error with a stack without one.
        lease?.abort('settled')
        const settlements = claims.map((claim, index) => ({ claim, used: used(claim, index) }))
        const isTaken = await this.#guarded.attempt(() => store.settle(id, settlements))
        this.#wake(claims)
        return isTaken
      },
    }
  }

  async restrict(restrictions: readonly Restriction[]): Promise<boolean> {
    if (restrictions.length === 0) return true
    return this.#guarded.attempt(() => this.#store.restrict(restrictions))
  }

  #lineOf(claims: readonly Claim[]): WaitingLine {
    const name = claims.map(({ key }) => key).join('\n')
    const known = this.#lines.get(name)
    if (known !== undefined) return known
    const keys = claims.map(({ key }) => key)
    const line = new WaitingLine({
      clock: this.#clock,
      pollMs: this.#store.pollMs ?? Infinity,
      take: (id, wanted) => this.#guarded.take(id, wanted),
      giveBack: ({ store }, id, taken) => {
        const settlements = taken.map((claim) => ({ claim, used: 0 }))
        void this.#guarded
          .attempt(() => store.settle(id, settlements))
          .then(() => this.#wake(taken))
      },
      onEmpty: () => {
        this.#lines.delete(name)
        for (const key of keys) {
          const others = this.#waiting.get(key)
          others?.delete(line)
          if (others?.size === 0) this.#waiting.delete(key)
        }
      },
    })
    this.#lines.set(name, line)
    for (const key of keys) {
      const lines = this.#waiting.get(key) ?? new Set()
      this.#waiting.set(key, lines.add(line))
    }
    return line
  }

  /** Renews concurrent claims before their lease expires. */
  #renew(store: RateLimitStore, id: string, all: readonly Claim[]): AbortController | undefined {
    const { leaseMs } = store
    const claims = all.filter(({ kind }) => kind === 'concurrency')
    if (leaseMs === undefined || claims.length === 0) return undefined
    const ended = new AbortController()
    const beat = async (): Promise<void> => {
      await this.#clock.sleep(leaseMs / 3, ended.signal)
      await this.#guarded.attempt(() => store.renew?.(id, claims))
      if (!ended.signal.aborted) void beat().catch(() => {})
    }
    void beat().catch(() => {})
    return ended
  }

  #wake(claims: readonly Claim[]): void {
    for (const { key } of claims) for (const line of this.#waiting.get(key) ?? []) line.wake()
  }
}

import type { KeyValueStore } from '@lamella/core'
import { createSecretId } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'

export interface LeaseOptions {
  readonly store: KeyValueStore
  readonly key: string
  /** Without a renewal it ends after this time, as when its holder was killed. */
  readonly leaseMs: number
  readonly clock: Clock
  /** Waits for an operation of the store. */
  readonly within: <T>(work: Promise<T>, signal?: AbortSignal) => Promise<T>
}

/** The right to make a call that no other process is making. */
export class Lease {
  readonly #options: LeaseOptions
  readonly #token: string = createSecretId('lease')
  readonly #over: AbortController = new AbortController()

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  /** Whether it is ours now; then it is renewed until `release`. */
  async take(signal: AbortSignal): Promise<boolean> {
    const isOurs = await this.#swap(undefined, this.#token, signal)
    if (isOurs) this.#renew().catch(() => {})
    return isOurs
  }

  async release(): Promise<void> {
    this.#over.abort()
    // It may have ended and be another's by now, so it is not simply deleted.
    const { store, key, within } = this.#options
    await within(store.compareAndSet(key, this.#token, this.#token, { ttlMs: 1 }))
  }

  async #renew(): Promise<void> {
    const { clock, leaseMs } = this.#options
    const { signal } = this.#over
    do await clock.sleep(leaseMs / 3, signal)
    while (await this.#swap(this.#token, this.#token, signal))
  }

  #swap(before: string | undefined, after: string, signal: AbortSignal): Promise<boolean> {
    const { store, key, leaseMs, within } = this.#options
    return within(store.compareAndSet(key, before, after, { ttlMs: leaseMs }), signal)
  }
}

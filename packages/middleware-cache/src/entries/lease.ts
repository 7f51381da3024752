import type { KeyValueStore } from '@lamella/core'
import { createSecretId } from '@lamella/core/authoring'
import type { Clock } from '@lamella/core/authoring'

/** Settings of a `Lease`. */
export interface LeaseOptions {
  readonly store: KeyValueStore
  readonly key: string
  /** Milliseconds until it expires without a renewal, for example when its holder was killed. */
  readonly leaseMs: number
  readonly clock: Clock
  /** Waits for an operation of the store, up to a time limit. */
  readonly within: <T>(work: Promise<T>, signal?: AbortSignal) => Promise<T>
}

/** Right of one process to make a call. */
export class Lease {
  readonly #options: LeaseOptions
  readonly #token: string = createSecretId('lease')
  readonly #over: AbortController = new AbortController()

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  /** Tries to take the lease. Resolves to true if it is ours, and renews it until `release`. */
  async take(signal: AbortSignal): Promise<boolean> {
    const isOurs = await this.#swap(undefined, this.#token, signal)
    if (isOurs) this.#renew().catch(() => {})
    return isOurs
  }

  async release(): Promise<void> {
    this.#over.abort('released')
    // It may have expired and belong to another process, so it is not simply deleted.
    const { store, key, within } = this.#options
    await within(store.compareAndSet(key, this.#token, this.#token, { ttlMs: 1 }))
  }

  async #renew(): Promise<void> {
    const { clock, leaseMs } = this.#options
    const { signal } = this.#over
    // A renewal that fails is tried again: the lease lasts for three.
    const isOurs = (): Promise<boolean> =>
      this.#swap(this.#token, this.#token, signal).catch(() => true)
    do await clock.sleep(leaseMs / 3, signal)
    while (await isOurs())
  }

  #swap(before: string | undefined, after: string, signal: AbortSignal): Promise<boolean> {
    const { store, key, leaseMs, within } = this.#options
    return within(store.compareAndSet(key, before, after, { ttlMs: leaseMs }), signal)
  }
}

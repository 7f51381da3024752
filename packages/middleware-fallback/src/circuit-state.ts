import type { KeyValueStore } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'

/** Thresholds of a circuit, with their defaults. */
export interface CircuitRules {
  readonly failureRate: number
  readonly minimum: number
  readonly windowMs: number
  readonly openMs: number
  readonly halfOpen: number
}

/** Permission for a call: as usual, as one of the few trials, or none yet. */
export type Passage =
  | { readonly kind: 'closed' | 'trial' }
  | { readonly kind: 'open'; readonly afterMs?: number | undefined }

/** Facts about a circuit that opened. */
export interface Opening {
  readonly failures: number
  readonly calls: number
  readonly afterMs: number
}

/**
 * State of one circuit in a store that processes may share. One entry lasts while it is open, a longer
 * one until a trial succeeds, so no clocks are compared.
 */
export class CircuitState {
  readonly #store: KeyValueStore
  readonly #rules: CircuitRules
  readonly #clock: Pick<Clock, 'now'>
  readonly #key: string

  constructor(store: KeyValueStore, rules: CircuitRules, clock: Pick<Clock, 'now'>, key: string) {
    this.#store = store
    this.#rules = rules
    this.#clock = clock
    this.#key = key
  }

  async enter(): Promise<Passage> {
    const { openMs, halfOpen } = this.#rules
    if ((await this.#store.get(`${this.#key}:broken`)) === undefined) return { kind: 'closed' }
    const until = await this.#store.get(`${this.#key}:open`)
    if (typeof until === 'number') {
      return { kind: 'open', afterMs: Math.min(openMs, Math.max(0, until - this.#clock.now())) }
    }
    // The slot of a process that dies is free again with the entry.
    const trials = await this.#store.increment!(`${this.#key}:trials`, 1, { ttlMs: openMs })
    if (trials <= halfOpen) return { kind: 'trial' }
    await this.leaveTrial()
    return { kind: 'open' }
  }

  /** Frees the slot of a trial without a verdict. */
  async leaveTrial(): Promise<void> {
    const key = `${this.#key}:trials`
    const left = await this.#store.increment!(key, -1, { ttlMs: this.#rules.openMs })
    if (left < 0) await this.#store.delete(key)
  }

  /** Counts a success. Resolves to true if it closed the circuit. */
  async succeeded(kind: 'closed' | 'trial'): Promise<boolean> {
    if (kind === 'closed') {
      await this.#add('calls')
      return false
    }
    const names = ['calls', 'failures'] as const
    const counts = names.flatMap((name) => [this.#counter(name, 0), this.#counter(name, 1)])
    const gone = ['broken', 'open', 'trials'].map((name) => `${this.#key}:${name}`)
    await Promise.all([...gone, ...counts].map((key) => this.#store.delete(key)))
    return true
  }

  /** Counts a failure. Resolves to `undefined` if it did not open the circuit. */
  async failed(kind: 'closed' | 'trial'): Promise<Opening | undefined> {
    const { failureRate, minimum, openMs } = this.#rules
    if (kind === 'trial')
      return (await this.#open()) ? { failures: 1, calls: 1, afterMs: openMs } : undefined
    const [calls, failures] = await Promise.all([this.#count('calls'), this.#count('failures')])
    if (calls < minimum || failures / calls < failureRate) return undefined
    // Calls that were running when it opened do not open it again.
    const isBroken = (await this.#store.get(`${this.#key}:broken`)) !== undefined
    return !isBroken && (await this.#open()) ? { failures, calls, afterMs: openMs } : undefined
  }

  /** Opens the circuit. Resolves to true if this call opened it. */
  async #open(): Promise<boolean> {
    const { openMs: ttlMs, windowMs } = this.#rules
    const until = this.#clock.now() + ttlMs
    if (!(await this.#store.compareAndSet(`${this.#key}:open`, undefined, until, { ttlMs })))
      return false
    await this.#store.set(`${this.#key}:broken`, true, { ttlMs: ttlMs + windowMs })
    await this.#store.delete(`${this.#key}:trials`)
    return true
  }

  #add(name: 'calls' | 'failures'): Promise<number> {
    const { windowMs: ttlMs } = this.#rules
    return this.#store.increment!(this.#counter(name, 0), 1, { ttlMs })
  }

  /** Adds one, and returns the sum of this half window and the previous one. */
  async #count(name: 'calls' | 'failures'): Promise<number> {
    const before = await this.#store.get(this.#counter(name, 1))
    return (await this.#add(name)) + (typeof before === 'number' ? before : 0)
  }

  #counter(name: 'calls' | 'failures', halvesAgo: number): string {
    const half = Math.floor((this.#clock.now() * 2) / this.#rules.windowMs) - halvesAgo
    return `${this.#key}:${name}:${half}`
  }
}

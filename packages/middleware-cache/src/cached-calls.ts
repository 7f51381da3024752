import type { KeyValueStore } from '@lamella/core'
import { isTermination } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { isControlFlow, jsonCopy } from '@lamella/core/authoring'
import type { CacheEntry, EntryStore } from './entry-store.ts'
import { Lease } from './lease.ts'
import { within } from './within.ts'

/** How calls with one key are kept from being made at the same time. */
export interface SingleFlightOptions {
  /**
   * How long a process may be silent before another makes its call; it renews the lease meanwhile.
   * @default 10000
   */
  readonly leaseMs?: number | undefined
  /**
   * How often the store is asked whether another process has the answer.
   * @default 50
   */
  readonly pollMs?: number | undefined
  /**
   * How long a call waits for another before it is made all the same.
   * @default 60000
   */
  readonly waitMs?: number | undefined
}

export interface CachedCallsOptions<Value> {
  readonly entries: EntryStore<Value>
  readonly clock: Clock
  /** `undefined`: every call is made. */
  readonly singleFlight: SingleFlightOptions | undefined
  /** Where other processes may keep what they make. */
  readonly shared: KeyValueStore | undefined
}

export interface BeginOptions<Value> {
  readonly signal: AbortSignal
  /** Whether entries answer at all. @default true */
  readonly reads?: boolean | undefined
  /** Whether it waits for others, and they for it. @default true */
  readonly waits?: boolean | undefined
  /** Whether an entry may answer. */
  readonly accepts: (entry: CacheEntry<Value>) => boolean
  readonly onError: (reason: string, error: unknown) => void
}

/** An entry that answers. */
export interface Found<Value> {
  readonly entry: CacheEntry<Value>
  readonly shared: boolean
}

/** The call is to be made. */
export interface Turn<Value> {
  /** What there was, and may not answer any more. */
  readonly old: CacheEntry<Value> | undefined
  /** Tells who waits what came of it. To be called once, always. */
  end(entry: CacheEntry<Value> | undefined, error?: unknown): void
}

/**
 * What came of a call that others waited for: an entry, also an old one that may stand in for calls that
 * fail. After an abort the next of them makes it.
 */
type Landing<Value> = CacheEntry<Value> | 'none' | 'aborted'

/** Finds the entry of a call, or whose turn it is to make it. */
export class CachedCalls<Value> {
  readonly #options: CachedCallsOptions<Value>
  readonly #flights = new Map<string, Promise<Landing<Value>>>()

  constructor(options: CachedCallsOptions<Value>) {
    this.#options = options
  }

  async begin(key: string, options: BeginOptions<Value>): Promise<Found<Value> | Turn<Value>> {
    const { singleFlight } = this.#options
    if (options.reads === false) return alone(undefined)
    if (singleFlight === undefined || options.waits === false) {
      const entry = await this.#read(key, options)
      return entry && options.accepts(entry) ? found(entry) : alone(entry)
    }
    for (;;) {
      const flight = this.#flights.get(key)
      if (flight === undefined) return this.#lead(key, singleFlight, options)
      const landing = await this.#wait(flight, singleFlight, options)
      if (landing === 'none') return alone(undefined)
      if (landing === 'aborted') continue
      return options.accepts(landing) ? { entry: jsonCopy(landing), shared: true } : alone(landing)
    }
  }

  async #lead(
    key: string,
    singleFlight: SingleFlightOptions,
    options: BeginOptions<Value>,
  ): Promise<Found<Value> | Turn<Value>> {
    let land: (landing: Landing<Value>) => void = () => {}
    this.#flights.set(key, new Promise((resolve) => (land = resolve)))
    const end = (landing: Landing<Value>): void => {
      this.#flights.delete(key)
      land(landing)
    }
    try {
      const old = await this.#read(key, options)
      const isFound = old !== undefined && options.accepts(old)
      const right = isFound ? undefined : await this.#lease(key, singleFlight, options)
      const entry = isFound ? old : right?.entry
      if (entry !== undefined) {
        end(entry)
        return { entry, shared: !isFound }
      }
      return {
        old,
        end: (made, error) => {
          const isLeft = isControlFlow(error, options.signal) && !isTermination(error)
          end(made ?? (isLeft ? 'aborted' : (old ?? 'none')))
          right?.lease?.release().catch((failure: unknown) => options.onError('lease', failure))
        },
      }
    } catch (error) {
      end('aborted')
      throw error
    }
  }

  /** The right to make the call, or what another process made; nothing where no right is needed. */
  async #lease(
    key: string,
    { leaseMs = 10_000, pollMs = 50, waitMs = 60_000 }: SingleFlightOptions,
    options: BeginOptions<Value>,
  ): Promise<{ lease?: Lease; entry?: CacheEntry<Value> } | undefined> {
    const { shared: store, entries, clock } = this.#options
    if (store === undefined) return undefined
    const { signal, accepts, onError } = options
    const lease = new Lease({
      store,
      key: `${key}:lease`,
      leaseMs,
      clock,
      within: (work, until) => entries.within(work, until),
    })
    try {
      for (const until = clock.now() + waitMs; clock.now() < until; ) {
        const isOurs = await lease.take(signal)
        // Another may have kept its answer between our last look and now.
        const entry = await entries.read(key, signal)
        if (entry !== undefined && accepts(entry)) {
          if (isOurs) await lease.release()
          return { entry }
        }
        if (isOurs) return { lease }
        await clock.sleep(pollMs, signal)
      }
    } catch (error) {
      // It may be ours by now.
      lease.release().catch(() => {})
      if (isControlFlow(error, signal)) throw error
      onError('lease', error)
    }
    return undefined
  }

  async #read(
    key: string,
    { signal, onError }: BeginOptions<Value>,
  ): Promise<CacheEntry<Value> | undefined> {
    try {
      return await this.#options.entries.read(key, signal)
    } catch (error) {
      if (isControlFlow(error, signal)) throw error
      onError('read', error)
      return undefined
    }
  }

  async #wait(
    flight: Promise<Landing<Value>>,
    { waitMs = 60_000 }: SingleFlightOptions,
    { signal }: BeginOptions<Value>,
  ): Promise<Landing<Value>> {
    try {
      return await within(flight, { clock: this.#options.clock, timeoutMs: waitMs, signal })
    } catch (error) {
      if (isControlFlow(error, signal)) throw error
      return 'none'
    }
  }
}

function found<Value>(entry: CacheEntry<Value>): Found<Value> {
  return { entry, shared: false }
}

function alone<Value>(old: CacheEntry<Value> | undefined): Turn<Value> {
  return { old, end: () => {} }
}

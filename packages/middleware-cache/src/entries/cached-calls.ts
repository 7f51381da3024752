import type { KeyValueStore } from '@lamella/core'
import { isTermination } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { isControlFlow, jsonCopy } from '@lamella/core/authoring'
import type { CacheEntry, EntryStore } from './entry-store.ts'
import { Lease } from './lease.ts'
import { within } from './within.ts'

/** Settings for concurrent calls with one key. */
export interface SingleFlightOptions {
  /**
   * Milliseconds after which the lease of a process that stopped renewing it expires, and another makes
   * the call.
   * @default 10000
   */
  readonly leaseMs?: number | undefined
  /**
   * Milliseconds between two reads of the store while another process makes the call.
   * @default 50
   */
  readonly pollMs?: number | undefined
  /**
   * Milliseconds for which a call waits for another before it is made all the same.
   * @default 60000
   */
  readonly waitMs?: number | undefined
  /**
   * Milliseconds that the reader of a streamed answer may pause until other calls no longer wait
   * for it.
   * @default 3000
   */
  readonly stallMs?: number | undefined
}

/** Settings of `CachedCalls`. */
export interface CachedCallsOptions<Value> {
  readonly entries: EntryStore<Value>
  readonly clock: Clock
  /** Settings for concurrent calls; `undefined` makes every call. */
  readonly singleFlight: SingleFlightOptions | undefined
  /** Store that other processes write to as well. */
  readonly shared: KeyValueStore | undefined
}

/** Settings of one call. */
export interface BeginOptions<Value> {
  readonly signal: AbortSignal
  /**
   * True if entries may answer.
   * @default true
   */
  readonly reads?: boolean | undefined
  /**
   * True if the call waits for concurrent ones, and they wait for it.
   * @default true
   */
  readonly waits?: boolean | undefined
  /** Tells whether an entry may answer. */
  readonly accepts: (entry: CacheEntry<Value>) => boolean | Promise<boolean>
  readonly onError: (reason: string, error: unknown) => void
  /** Returns true while a caller waits for more of the call. @default always */
  readonly isAwaited?: (() => boolean) | undefined
}

/** An entry that answers the call. */
export interface Found<Value> {
  readonly entry: CacheEntry<Value>
  readonly shared: boolean
}

/** The right and the obligation to make the call. */
export interface Turn<Value> {
  /** Entry that no longer may answer. */
  readonly old: CacheEntry<Value> | undefined
  /** Publishes the outcome to waiting calls. To be called exactly once. */
  end(entry: CacheEntry<Value> | undefined, error?: unknown): void
  /** A part of the answer has arrived, and its reader has read the previous one. */
  progress(): void
}

/**
 * Outcome of a call that others waited for: an entry, possibly an old one that answers for a failed
 * call. After an abort, the next waiting call is made.
 */
type Landing<Value> = CacheEntry<Value> | 'none' | 'aborted'

/** Finds the entry of a call, or decides which call is made. */
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
      return entry && (await options.accepts(entry)) ? found(entry) : alone(entry)
    }
    for (;;) {
      const flight = this.#flights.get(key)
      if (flight === undefined) return this.#lead(key, singleFlight, options)
      const landing = await this.#wait(flight, singleFlight, options)
      if (landing === 'none') return alone(undefined)
      if (landing === 'aborted') continue
      return (await options.accepts(landing))
        ? { entry: jsonCopy(landing), shared: true }
        : alone(landing)
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
      const isFound = old !== undefined && (await options.accepts(old))
      const right = isFound ? undefined : await this.#lease(key, singleFlight, options)
      const entry = isFound ? old : right?.entry
      if (entry !== undefined) {
        end(entry)
        return { entry, shared: !isFound }
      }
      const over = new AbortController()
      const finish = (landing: Landing<Value>): void => {
        if (over.signal.aborted) return
        over.abort('finished')
        end(landing)
        right?.lease?.release().catch((failure: unknown) => options.onError('lease', failure))
      }
      return {
        old,
        end: (made, error) => {
          const isLeft = isControlFlow(error, options.signal) && !isTermination(error)
          finish(made ?? (isLeft ? 'aborted' : (old ?? 'none')))
        },
        // The next waiting call makes it.
        progress: this.#stallWatch(singleFlight, options, over.signal, () => finish('aborted')),
      }
    } catch (error) {
      end('aborted')
      throw error
    }
  }

  /** Calls back when the reader of an answer has paused for too long. */
  #stallWatch(
    { stallMs = 3000 }: SingleFlightOptions,
    { isAwaited = () => true }: BeginOptions<Value>,
    over: AbortSignal,
    onStall: () => void,
  ): () => void {
    const { clock } = this.#options
    let last: number | undefined
    const watch = async (): Promise<void> => {
      for (let left = stallMs; left > 0; left = last! + stallMs - clock.now()) {
        // oxlint-disable-next-line no-await-in-loop
        await clock.sleep(left, over)
        if (isAwaited()) last = clock.now()
      }
      onStall()
    }
    return () => {
      const isFirst = last === undefined
      last = clock.now()
      // It ends with the call.
      if (isFirst && !over.aborted) watch().catch(() => {})
    }
  }

  /**
   * Resolves to the right to make the call, or to the answer of another process; undefined if no
   * right is needed.
   */
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
        // Another process may have stored its answer between our last read and now.
        const entry = await entries.read(key, signal)
        if (entry !== undefined && (await accepts(entry))) {
          if (isOurs) await lease.release()
          return { entry }
        }
        if (isOurs) return { lease }
        await clock.sleep(pollMs, signal)
      }
    } catch (error) {
      // The lease may have expired and be free.
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
  return { old, end: () => {}, progress: () => {} }
}

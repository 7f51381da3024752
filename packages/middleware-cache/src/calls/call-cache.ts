import type { GuardrailEvent } from '@lamella/guardrail'
import type { KeyValueStore, RunContext } from '@lamella/core'
import { memoryStore } from '@lamella/core'
import type { Clock, OptionRules } from '@lamella/core/authoring'
import { middlewareRules, sha256, systemClock, wrongOption } from '@lamella/core/authoring'
import { perStore } from '@lamella/store'
import type { ReportCache } from './cache-event.ts'
import { cacheReporter } from './cache-event.ts'
import type { CacheInfo, SharedCacheOptions } from './cache-options.ts'
import type { CacheScope } from '../keys/cache-scope.ts'
import { checkScope, scopeOf } from '../keys/cache-scope.ts'
import type { Found, SingleFlightOptions, Turn } from '../entries/cached-calls.ts'
import { CachedCalls } from '../entries/cached-calls.ts'
import type { CacheEntry } from '../entries/entry-store.ts'
import { EntryStore } from '../entries/entry-store.ts'
import type { KeyvLike } from '../entries/keyv-like.ts'
import { keyvStore } from '../entries/keyv-store.ts'

/** Part of the context of a model call or a tool call. */
interface CallContext {
  readonly run: RunContext
  readonly signal: AbortSignal
}

/** Parts of a cache in one store. */
interface CachePart<Value> {
  readonly entries: EntryStore<Value>
  readonly calls: CachedCalls<Value>
  /** Store that other processes may share. */
  readonly shared: KeyValueStore | undefined
}

/** Key of a call, or the reason why it has none. */
export type KeyOrReason =
  | { readonly key: string; readonly reason?: never }
  | { readonly key?: never; readonly reason: string }

/** Answer that may be stored. */
export interface Candidate<Value> {
  readonly key: string
  readonly ttlMs: number
  /**
   * Milliseconds for which it is stored; longer than `ttlMs` if it may answer late.
   * @default ttlMs
   */
  readonly keepMs?: number | undefined
  readonly question?: string | undefined
  /** Returns the reason not to store it, if there is one. */
  readonly why: () => string | undefined | Promise<string | undefined>
  readonly value: () => Value
}

/**
 * Parts that `cache()` and `toolCache()` share: the store, the keys, and reading and writing entries.
 */
export class CallCache<Value, Context extends CallContext> {
  readonly isShadow: boolean
  readonly ttlMs: number
  readonly report: ReportCache
  readonly #options: SharedCacheOptions<Context>
  readonly #partOf: (run: Pick<RunContext, 'store'>) => CachePart<Value>
  readonly #clock: Clock
  readonly #flight: SingleFlightOptions | undefined
  readonly #prefix: string
  readonly #namespace: string

  /** @throws TypeError or RangeError that names the option and the value */
  constructor(
    owner: 'cache' | 'toolCache',
    options: SharedCacheOptions<Context> & { readonly scope?: CacheScope<Context> | undefined },
    isValue: (value: unknown) => value is Value,
  ) {
    check(owner, options)
    const {
      name: middleware = 'cache',
      store,
      codec,
      clock = systemClock,
      ttlMs = 300_000,
    } = options
    const { namespace = '', singleFlight = true, storeTimeoutMs = 1000, onEvent } = options
    this.isShadow = options.mode === 'shadow'
    this.ttlMs = ttlMs
    this.report = cacheReporter({ middleware, isShadow: this.isShadow, onEvent })
    this.#options = options
    this.#clock = clock
    const flight = singleFlight === true ? {} : singleFlight || undefined
    this.#flight = flight
    this.#partOf = perStore(store === undefined ? store : toStore(owner, store), (shared) => {
      const entries = new EntryStore({
        store: shared ?? memoryStore({ maxEntries: 1000, maxBytes: 64 * 2 ** 20, clock }),
        codec,
        clock,
        timeoutMs: shared === undefined ? Infinity : storeTimeoutMs,
        isValue,
      })
      const calls = new CachedCalls({
        entries,
        clock,
        singleFlight: this.isShadow ? undefined : flight,
        shared,
      })
      return { entries, calls, shared }
    })
    this.#prefix = owner === 'cache' ? 'cache:' : 'tool-cache:'
    this.#namespace = namespace
  }

  /** The entries that a run shares. */
  entriesOf({ run }: Pick<CallContext, 'run'>): EntryStore<Value> {
    return this.#partOf(run).entries
  }

  /** Returns the age of an entry in milliseconds. */
  ageMs({ storedAt }: Pick<CacheEntry<Value>, 'storedAt'>): number {
    // The clock of another machine may be ahead of this one.
    return Math.max(0, this.#clock.now() - storedAt)
  }

  /**
   * Computes the key of a call. `describe` returns the rest of its data as canonical JSON, or
   * `undefined`.
   */
  async keyFor(
    context: Context,
    scope: CacheScope<Context>,
    describe: () => object | string | undefined,
  ): Promise<KeyOrReason> {
    try {
      const who = scopeOf(scope, context)
      if (who === undefined) return { reason: 'no-scope' }
      const what = describe()
      if (what === undefined) return { reason: 'not-json' }
      // The number is the version of the format of keys and entries.
      const hash = sha256(JSON.stringify([1, this.#namespace, who, what]))
      return { key: this.#prefix + (typeof hash === 'string' ? hash : await hash) }
    } catch (error) {
      this.fail(context, 'key', error)
      return { reason: 'error' }
    }
  }

  begin(
    context: Context,
    key: string,
    options: {
      readonly reads?: boolean
      readonly waits?: boolean
      readonly accepts: (entry: CacheEntry<Value>, ageMs: number) => boolean | Promise<boolean>
      readonly isAwaited?: (() => boolean) | undefined
    },
  ): Promise<Found<Value> | Turn<Value>> {
    return this.#partOf(context.run).calls.begin(key, {
      signal: context.signal,
      reads: options.reads,
      waits: options.waits,
      isAwaited: options.isAwaited,
      accepts: (entry) => options.accepts(entry, this.ageMs(entry)),
      onError: (reason, error) => this.fail(context, reason, error, key),
    })
  }

  /** Stores an answer if it may be stored, and reports the outcome. Never rejects. */
  async keep(
    context: Context,
    candidate: Candidate<Value>,
  ): Promise<{ readonly entry?: CacheEntry<Value>; readonly facts: Omit<CacheInfo, 'hit'> }> {
    const { key, ttlMs, keepMs = ttlMs, question, why, value } = candidate
    let reason: string | undefined
    try {
      reason = await why()
      if (reason === undefined) {
        const storedAt = this.#clock.now()
        const entry = { version: 1, storedAt, ttlMs, value: value(), question } as const
        const stored = await this.#write(context, key, entry, keepMs)
        if (stored) this.#forgetIfBlocked(context, key)
        return { entry, facts: this.#made(context, { key, stored }) }
      }
    } catch (error) {
      this.fail(context, (reason = 'cacheable'), error, key)
    }
    return { facts: this.#made(context, { key, stored: false, reason }) }
  }

  /** Claims a key for the time of a lease. Returns false if another process holds it. */
  async claim({ run }: Context, key: string): Promise<boolean> {
    const ttlMs = this.#flight?.leaseMs ?? 10_000
    const { shared, entries } = this.#partOf(run)
    const claimed = shared?.compareAndSet(key, undefined, 1, { ttlMs })
    return claimed === undefined || entries.within(claimed)
  }

  fail({ run }: Context, reason: string, error: unknown, key?: string): void {
    this.report(run, { outcome: 'error', reason, error, ...(key !== undefined && { key }) })
  }

  /**
   * Removes the entry if a guardrail blocks later in the run: its event may be about this answer.
   */
  #forgetIfBlocked(context: Context, key: string): void {
    context.run.observe(({ type, data }) => {
      if (type !== 'guardrail' || (data as Partial<GuardrailEvent>).status !== 'blocked') return
      const removed = this.entriesOf(context)
        .remove(key)
        .catch((error: unknown) => this.fail(context, 'remove', error, key))
      this.#options.waitUntil?.(removed)
    })
  }

  #made({ run }: Context, facts: Omit<CacheInfo, 'hit'>): Omit<CacheInfo, 'hit'> {
    this.report(run, { outcome: 'miss', ...facts })
    return facts
  }

  async #write(
    context: Context,
    key: string,
    entry: CacheEntry<Value>,
    keepMs: number,
  ): Promise<boolean> {
    const written = this.entriesOf(context)
      .write(key, entry, keepMs)
      .then(
        () => true,
        (error: unknown) => {
          this.fail(context, 'write', error, key)
          return false
        },
      )
    const { waitUntil } = this.#options
    if (waitUntil === undefined) return written
    waitUntil(written)
    return true
  }
}

export const sharedCacheRules: OptionRules<SharedCacheOptions<never>> = {
  ...middlewareRules,
  store: 'any',
  ttlMs: 1,
  namespace: 'string?',
  singleFlight: { leaseMs: 1, pollMs: 1, waitMs: 0, stallMs: 'ms' },
  codec: 'any',
  storeTimeoutMs: 'ms',
  waitUntil: 'function?',
  clock: 'any',
}

function check<Context>(
  owner: string,
  options: SharedCacheOptions<Context> & { readonly scope?: CacheScope<Context> | undefined },
): void {
  checkScope(owner, options.scope)
  const { codec } = options
  if (codec === undefined) return
  for (const name of ['encode', 'decode'] as const) {
    if (typeof codec[name] !== 'function') {
      throw wrongOption(owner, `codec.${name}`, 'a function', codec[name])
    }
  }
}

function toStore(owner: string, store: KeyValueStore | KeyvLike): KeyValueStore {
  const { compareAndSet, get, set, delete: remove } = Object(store) as Partial<KeyValueStore>
  if (typeof compareAndSet === 'function') return store as KeyValueStore
  const isKeyv = [get, set, remove].every((method) => typeof method === 'function')
  if (isKeyv) return keyvStore(store as KeyvLike)
  // The value may be an address with a password.
  throw wrongOption(owner, 'store', 'a KeyValueStore or a Keyv', store, true)
}

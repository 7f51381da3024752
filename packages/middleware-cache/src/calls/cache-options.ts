import type { ChatContext, ChatResponse, KeyValueStore, Usage } from '@lamella/core'
import type { Clock, MiddlewareOptions } from '@lamella/core/authoring'
import type { CacheEvent } from './cache-event.ts'
import type { CacheScope } from '../keys/cache-scope.ts'
import type { SingleFlightOptions } from '../entries/cached-calls.ts'
import type { CacheCodec } from '../entries/entry-store.ts'
import type { CacheAllowance } from '../keys/keepable.ts'
import type { KeyvLike } from '../entries/keyv-like.ts'
import type { CacheRequest } from '../keys/request-key.ts'
import type { SemanticOptions } from '../semantic/semantic-options.ts'

/** Options that `cache()` and `toolCache()` share. */
export interface SharedCacheOptions<Context> extends MiddlewareOptions<Context, CacheEvent> {
  /**
   * Store of the entries: any `KeyValueStore`, or a `Keyv`.
   * @default the agent's, otherwise this process, at most 1000 entries and 64 MiB
   */
  readonly store?: KeyValueStore | KeyvLike | undefined
  /**
   * Milliseconds for which an entry answers.
   * @default 300000
   */
  readonly ttlMs?: number | undefined
  /**
   * Part of every key. Change it to start an empty cache, after a change of prompts, a tool or a server.
   * @default ''
   */
  readonly namespace?: string | undefined
  /**
   * Makes one call for concurrent calls with the same key, also across processes that share the store.
   * @default true
   */
  readonly singleFlight?: boolean | SingleFlightOptions | undefined
  /**
   * Converts entries to text and back, for example to encrypt them.
   * @default entries are JSON
   */
  readonly codec?: CacheCodec | undefined
  /**
   * Time limit in milliseconds for one operation of the store. After it, the call continues
   * without the cache.
   * @default 1000
   */
  readonly storeTimeoutMs?: number | undefined
  /**
   * Takes work that a call need not wait for, such as `ctx.waitUntil` of an edge worker.
   * @default entries are written before the call ends
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /**
   * Source of time.
   * @default the system's clock
   */
  readonly clock?: Clock | undefined
}

/** Options of `cache`. */
export interface CacheOptions extends SharedCacheOptions<ChatContext> {
  /**
   * Set of callers that share answers.
   * @default 'shared', but a run with a tenant, or one named in its `data`, fails
   */
  readonly scope?: CacheScope<ChatContext> | undefined
  /**
   * Milliseconds after `ttlMs` for which an entry still answers while it is refreshed in the background.
   * @default 0
   */
  readonly staleWhileRevalidateMs?: number | undefined
  /**
   * Milliseconds after `ttlMs` for which an entry answers a call that fails.
   * @default 0
   */
  readonly staleIfErrorMs?: number | undefined
  /**
   * Calls and answers to cache that are not cached by default.
   * @default []
   */
  readonly allow?: readonly CacheAllowance[] | undefined
  /** Further condition for storing an answer. */
  readonly cacheable?:
    | ((response: ChatResponse, context: ChatContext) => boolean | Promise<boolean>)
    | undefined
  /**
   * Data that the key is computed from, as JSON. The function gets all that reaches the provider, and
   * may add to it or leave parts out.
   * @default all that reaches the provider
   */
  readonly key?: ((context: ChatContext, request: CacheRequest) => unknown) | undefined
  /**
   * Answers questions with the same meaning too.
   * @default only identical calls are answered
   */
  readonly semantic?: SemanticOptions | undefined
}

/** Cache settings of a single call. */
export interface CacheControl {
  /**
   * - `reload`: makes the call and stores its answer
   * - `no-store`: makes the call without the cache
   * - `only-if-cached`: makes no call; without an entry it fails with `cache_miss`
   * @default 'default'
   */
  readonly mode?: CacheMode | undefined
  /** Maximum age in milliseconds of an entry that may answer. */
  readonly maxAgeMs?: number | undefined
  /**
   * Time to live of the entry that this call makes, in milliseconds.
   * @default `ttlMs` of the middleware
   */
  readonly ttlMs?: number | undefined
}

/** Use of the cache by a single call. */
export type CacheMode = 'default' | 'reload' | 'no-store' | 'only-if-cached'

/** Facts about the cache in `metadata.cache` of a response and of its call's context. */
export interface CacheInfo {
  /** True if the answer came from the cache. */
  readonly hit: boolean
  /** Key of the entry in the store. Missing if no entry was looked up. */
  readonly key?: string | undefined
  /** True if this call's answer was stored. */
  readonly stored?: boolean | undefined
  /** Fixed word for the reason why the cache was not read, or the answer not stored. */
  readonly reason?: string | undefined
  /** Age of the entry in milliseconds. */
  readonly ageMs?: number | undefined
  /** True if the entry was past its time to live. */
  readonly stale?: boolean | undefined
  /** True if a concurrent call with the same key provided the answer. */
  readonly shared?: boolean | undefined
  /** Similarity to the question answered before, from 0 to 1, if the two differ. */
  readonly similarity?: number | undefined
  /** Usage that the answer cost when it was made. The response's own `usage` is zero. */
  readonly savedUsage?: Usage | undefined
}

declare module '@lamella/core' {
  interface ChatOptions {
    /**
     * Cache settings of this call, read by `cache()` of `@lamella/middleware-cache`. Never sent to the
     * provider.
     * @default 'default'
     */
    readonly cache?: CacheMode | CacheControl | undefined
  }
}

import type { ChatContext, ChatResponse, KeyValueStore, Usage } from '@lamella/core'
import type { Clock, LayerOptions } from '@lamella/core/authoring'
import type { CacheEvent } from './cache-event.ts'
import type { CacheScope } from './cache-scope.ts'
import type { SingleFlightOptions } from './cached-calls.ts'
import type { CacheCodec } from './entry-store.ts'
import type { CacheAllowance } from './keepable.ts'
import type { KeyvLike } from './keyv-store.ts'
import type { CacheRequest } from './request-key.ts'
import type { SemanticOptions } from './semantic-options.ts'

/** What `cache()` and `toolCache()` both take. */
export interface SharedCacheOptions<Context> extends LayerOptions<Context, CacheEvent> {
  /**
   * Where entries are kept: any `KeyValueStore`, or a `Keyv`.
   * @default in this process, at most 1000 entries and 64 MiB
   */
  readonly store?: KeyValueStore | KeyvLike | undefined
  /**
   * How long an entry answers.
   * @default 300000
   */
  readonly ttlMs?: number | undefined
  /**
   * Part of every key. Another one is another cache: after a change of prompts, of a tool, of a server.
   * @default ''
   */
  readonly namespace?: string | undefined
  /**
   * Calls with one key that come at the same time are made once; on a store of your own also if they
   * come to several processes.
   * @default true
   */
  readonly singleFlight?: boolean | SingleFlightOptions | undefined
  /** What turns entries into texts and back, such as encryption. @default entries are JSON */
  readonly codec?: CacheCodec | undefined
  /**
   * For one operation of a store of your own. After it, the call goes on without the cache.
   * @default 1000
   */
  readonly storeTimeoutMs?: number | undefined
  /**
   * Is given what a call need not wait for, such as `ctx.waitUntil` of an edge worker.
   * @default entries are written before the call ends
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
}

export interface CacheOptions extends SharedCacheOptions<ChatContext> {
  /**
   * Who shares answers.
   * @default 'shared', but a call fails whose run has a tenant, or names one in its `data`
   */
  readonly scope?: CacheScope<ChatContext> | undefined
  /**
   * How long after `ttlMs` an entry still answers while it is made anew in the background.
   * @default 0
   */
  readonly staleWhileRevalidateMs?: number | undefined
  /**
   * How long after `ttlMs` an entry answers in place of a call that fails.
   * @default 0
   */
  readonly staleIfErrorMs?: number | undefined
  /** What is cached although it is not by default. @default [] */
  readonly allow?: readonly CacheAllowance[] | undefined
  /** A further condition for an answer to be kept. */
  readonly cacheable?:
    | ((response: ChatResponse, context: ChatContext) => boolean | Promise<boolean>)
    | undefined
  /**
   * What the key is made of, as JSON. It gets all that reaches the provider and may add to it or leave
   * parts out.
   * @default all that reaches the provider
   */
  readonly key?: ((context: ChatContext, request: CacheRequest) => unknown) | undefined
  /** Answers also questions that mean the same. @default only the very same */
  readonly semantic?: SemanticOptions | undefined
}

/** What a single call says about the cache. */
export interface CacheControl {
  /**
   * - `reload`: made anew, and kept
   * - `no-store`: made as if there were no cache
   * - `only-if-cached`: not made; without an entry it fails with `cache_miss`
   * @default 'default'
   */
  readonly mode?: CacheMode | undefined
  /** An older entry does not answer. */
  readonly maxAgeMs?: number | undefined
  /** For the entry that this call makes. @default the layer's */
  readonly ttlMs?: number | undefined
}

export type CacheMode = 'default' | 'reload' | 'no-store' | 'only-if-cached'

/** In `metadata.cache` of a response, and of the context of its call. */
export interface CacheInfo {
  readonly hit: boolean
  /** Of the entry in the store; missing where there was none to look for. */
  readonly key?: string | undefined
  /** Whether this call's answer was kept. */
  readonly stored?: boolean | undefined
  /** Why it was not asked for, or not kept. */
  readonly reason?: string | undefined
  readonly ageMs?: number | undefined
  readonly stale?: boolean | undefined
  readonly shared?: boolean | undefined
  readonly similarity?: number | undefined
  /** What the answer had cost; its own `usage` is zero. */
  readonly savedUsage?: Usage | undefined
}

declare module '@lamella/core' {
  interface ChatOptions {
    /** How this call uses `cache()` of `@lamella/middleware-cache`. Never sent. */
    readonly cache?: CacheMode | CacheControl | undefined
  }
}

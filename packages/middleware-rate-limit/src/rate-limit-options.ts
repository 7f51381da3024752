import type {
  AgentContext,
  AgentMiddleware,
  ChatContext,
  ChatMiddleware,
  FunctionInvocationContext,
  FunctionMiddleware,
  KeyValueStore,
  Usage,
} from '@lamella/core'
import type { Clock, MiddlewareOptions } from '@lamella/core/authoring'
import type { RateLimitDenial, RateLimitUnit } from './rate-limit-error.ts'
import type { RateLimitStore } from './rate-limit-store.ts'

interface Contexts {
  readonly agent: { readonly context: AgentContext; readonly middleware: AgentMiddleware }
  readonly chat: { readonly context: ChatContext; readonly middleware: ChatMiddleware }
  readonly function: {
    readonly context: FunctionInvocationContext
    readonly middleware: FunctionMiddleware
  }
}

/** Level of the calls that are limited. */
export type RateLimitLevel = keyof Contexts
/** Context of a call of this level. */
export type ContextOf<Level extends RateLimitLevel> = Contexts[Level]['context']
/** Middleware of this level. */
export type MiddlewareOf<Level extends RateLimitLevel> = Contexts[Level]['middleware']

/** One limit. Several limits hold together. */
export interface RateLimit<Level extends RateLimitLevel = RateLimitLevel> {
  /** Quantity to count. Tokens and cost are those of runs and model calls. */
  readonly unit: RateLimitUnit
  /** Maximum in any window; for concurrency, calls at the same time. */
  readonly limit: number
  /** Length of the window in milliseconds. Left out for concurrency. */
  readonly windowMs?: number | undefined
  /**
   * Groups calls: those with the same text share the limit.
   * @default the `key` of the options
   */
  readonly key?: ((context: ContextOf<Level>) => string) | undefined
}

/** Options of `rateLimit`. */
export interface RateLimitOptions<Level extends RateLimitLevel = 'chat'>
  extends MiddlewareOptions<ContextOf<Level>, RateLimitEvent> {
  /** Limits that all hold: a call needs its amount of each, or waits. */
  readonly limits: readonly RateLimit<Level>[]
  /**
   * Calls to limit: whole runs (`agent`), model calls (`chat`) or tool calls (`function`).
   * @default 'chat'
   */
  readonly level?: Level | undefined
  /**
   * Groups calls: those with the same text share each limit.
   * @default groups by provider and model; tool calls by name; runs all together
   */
  readonly key?: ((context: ContextOf<Level>) => string) | undefined
  /**
   * `sliding-window` allows `limit` in any window. `token-bucket` refills continuously: smoother, and up
   * to twice the limit in the first window. `fixed-window` is for `flexibleLimitStore` only.
   * @default 'sliding-window', or what the store can do
   */
  readonly algorithm?: 'sliding-window' | 'token-bucket' | 'fixed-window' | undefined
  /**
   * Makes a call above the limit wait or fail. A function decides for each call.
   * @default 'wait'
   */
  readonly onLimit?:
    | 'wait'
    | 'reject'
    | ((denial: RateLimitDenial) => 'wait' | 'reject')
    | undefined
  /**
   * Maximum wait of a call in milliseconds.
   * @default 30000
   */
  readonly maxWaitMs?: number | undefined
  /**
   * Maximum number of waiting calls of one key; one more is rejected.
   * @default 1000
   */
  readonly maxQueue?: number | undefined
  /**
   * Priority of a call: a higher one waits in front of others of the same key.
   * @default 0 for all, first come, first served
   */
  readonly priority?: ((context: ContextOf<Level>) => number) | undefined
  /**
   * Estimates the tokens that a call will use.
   * @default estimates the input, and adds `outputFactor` of `maxOutputTokens`
   */
  readonly estimate?: ((context: ContextOf<Level>) => Usage) | undefined
  /**
   * Share of `maxOutputTokens` that answers are expected to use, from 0 up.
   * @default 0.5
   */
  readonly outputFactor?: number | undefined
  /** Price of a usage, in the unit of the `cost` limits. Required for those. */
  readonly price?: ((usage: Usage, context: ContextOf<Level>) => number) | undefined
  /**
   * Learns from the provider: the remaining amounts that it reports, and status 429. Applies to limits
   * without a `key` of their own.
   * @default true for model calls by provider and model, otherwise false
   */
  readonly adaptive?: boolean | undefined
  /**
   * Milliseconds without calls after a status 429 that names no wait.
   * @default 1000
   */
  readonly pauseMs?: number | undefined
  /**
   * Counts what calls take: a store with sliding windows (`limits`), such as those of `sqliteStore()`,
   * `redisStore()` and `postgresStore()`, which processes share.
   * @default the agent's, otherwise this process
   */
  readonly store?: KeyValueStore | RateLimitStore | undefined
  /**
   * Behavior while the store fails or exceeds its time limit: `local` counts in this process, `throw`
   * fails the call.
   * @default 'local'
   */
  readonly onStoreError?: 'local' | 'fail' | undefined
  /**
   * Time limit for the store in milliseconds.
   * @default 2000
   */
  readonly storeTimeoutMs?: number | undefined
  /**
   * Source of time and sleep.
   * @default the system's clock
   */
  readonly clock?: Clock | undefined
}

/** Data of the run event `rate_limit`. It holds no key. */
export type RateLimitEvent =
  | (RateLimitDenial & {
      /** `shadow`: in shadow mode, the call would have waited or been rejected. */
      readonly status: 'waiting' | 'rejected' | 'shadow'
    })
  | {
      /** Name of the middleware. */
      readonly limiter: string
      readonly status: 'passed'
      /** Milliseconds that the call waited. */
      readonly waitedMs: number
    }
  | {
      /** Name of the middleware. */
      readonly limiter: string
      readonly status: 'paused'
      /** Milliseconds for which the provider asks to wait. */
      readonly pauseMs: number
    }
  | {
      /** Name of the middleware. */
      readonly limiter: string
      readonly status: 'store_error'
    }

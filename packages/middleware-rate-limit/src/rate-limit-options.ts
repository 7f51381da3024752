import type {
  AgentContext,
  AgentMiddleware,
  ChatContext,
  ChatMiddleware,
  FunctionInvocationContext,
  FunctionMiddleware,
  Usage,
} from '@lamella/core'
import type { Clock, LayerOptions } from '@lamella/core/authoring'
import type { RateLimitDenial } from './rate-limit-error.ts'
import type { RateLimitStore } from './rate-limit-store.ts'

export type RateLimitUnit =
  | 'requests'
  | 'inputTokens'
  | 'outputTokens'
  | 'totalTokens'
  | 'cost'
  | 'concurrency'

interface Contexts {
  readonly agent: { readonly context: AgentContext; readonly middleware: AgentMiddleware }
  readonly chat: { readonly context: ChatContext; readonly middleware: ChatMiddleware }
  readonly function: {
    readonly context: FunctionInvocationContext
    readonly middleware: FunctionMiddleware
  }
}

/** What a limiter can stand around. */
export type RateLimitLevel = keyof Contexts
export type ContextOf<Level extends RateLimitLevel> = Contexts[Level]['context']
export type MiddlewareOf<Level extends RateLimitLevel> = Contexts[Level]['middleware']

/** One of the limits that hold together. */
export interface RateLimit<Level extends RateLimitLevel = RateLimitLevel> {
  /** What is counted. Tokens and cost are those of runs and model calls. */
  readonly unit: RateLimitUnit
  /** How many in any window; of concurrency, how many at once. */
  readonly limit: number
  /** Length of the window in milliseconds. Not for concurrency. */
  readonly windowMs?: number | undefined
  /**
   * What is counted together: calls with the same text share the limit.
   * @default the `key` of the options
   */
  readonly key?: ((context: ContextOf<Level>) => string) | undefined
}

export interface RateLimitOptions<Level extends RateLimitLevel = 'chat'>
  extends LayerOptions<ContextOf<Level>, RateLimitEvent> {
  /** All of them hold: a call takes its part of each, or waits. */
  readonly limits: readonly RateLimit<Level>[]
  /**
   * What is limited: whole runs, model calls, or tool calls.
   * @default 'chat'
   */
  readonly level?: Level | undefined
  /**
   * What is counted together.
   * @default the provider and the model; the tool's name; all runs together
   */
  readonly key?: ((context: ContextOf<Level>) => string) | undefined
  /**
   * `sliding-window` lets at most `limit` through in any window. `token-bucket` gives back bit by
   * bit: smoother, and up to twice the limit in the first window. `fixed-window` is for
   * `flexibleLimitStore` only.
   * @default 'sliding-window', or what the store can do
   */
  readonly algorithm?: 'sliding-window' | 'token-bucket' | 'fixed-window' | undefined
  /**
   * What a call does that cannot go on. A function decides for each.
   * @default 'wait'
   */
  readonly onLimit?:
    | 'wait'
    | 'reject'
    | ((denial: RateLimitDenial) => 'wait' | 'reject')
    | undefined
  /**
   * Milliseconds that a call waits at most.
   * @default 30000
   */
  readonly maxWaitMs?: number | undefined
  /**
   * Calls of one key that may wait at the same time; one more is rejected.
   * @default 1000
   */
  readonly maxQueue?: number | undefined
  /**
   * Calls with a higher one wait in front of others of the same key.
   * @default 0 for all: first come, first served
   */
  readonly priority?: ((context: ContextOf<Level>) => number) | undefined
  /**
   * The tokens that a call will take, as far as one can know.
   * @default an estimate of the input, and `outputFactor` of `maxOutputTokens`
   */
  readonly estimate?: ((context: ContextOf<Level>) => Usage) | undefined
  /**
   * The part of `maxOutputTokens` that answers use.
   * @default 0.5
   */
  readonly outputFactor?: number | undefined
  /** What tokens cost, in the unit of the limits of `cost`. Needed for those only. */
  readonly price?: ((usage: Usage, context: ContextOf<Level>) => number) | undefined
  /**
   * Whether to learn from the provider: what it says is left of its limits, and its status 429.
   * Concerns the limits without a `key` of their own.
   * @default true for model calls by provider and model, otherwise false
   */
  readonly adaptive?: boolean | undefined
  /**
   * Milliseconds that nothing is sent after a 429 that does not say how long.
   * @default 1000
   */
  readonly pauseMs?: number | undefined
  /**
   * Where it is counted.
   * @default in this process
   */
  readonly store?: RateLimitStore | undefined
  /**
   * What to do when the store fails or does not answer in time: count in this process until it is
   * back, or let the call fail.
   * @default 'local'
   */
  readonly onStoreError?: 'local' | 'fail' | undefined
  /**
   * Milliseconds to wait for the store's answer.
   * @default 2000
   */
  readonly storeTimeoutMs?: number | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
}

/** What the event `rate_limit` tells. It holds no key. */
export type RateLimitEvent =
  | (RateLimitDenial & {
      /** `shadow`: the call would have waited or been rejected. */
      readonly status: 'waiting' | 'rejected' | 'shadow'
    })
  | { readonly limiter: string; readonly status: 'passed'; readonly waitedMs: number }
  | { readonly limiter: string; readonly status: 'paused'; readonly pauseMs: number }
  | { readonly limiter: string; readonly status: 'store_error' }

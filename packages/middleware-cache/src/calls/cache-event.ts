import type { RunContext, Usage } from '@lamella/core'
import { reporter } from '@lamella/core/authoring'

/** Data of the run event `cache`: the outcome of one call. It holds no text of users or models. */
export interface CacheEvent {
  /** Name of the middleware. */
  readonly middleware: string
  /**
   * `hit`: answered from the cache. `miss`: the call was made, and its answer kept if `stored`.
   * `skipped`: the call was made without the cache. `error`: the store, a codec or an option's function
   * failed, and the call continues without it.
   */
  readonly outcome: 'hit' | 'miss' | 'skipped' | 'error'
  /** Key of the entry in the store. */
  readonly key?: string | undefined
  /** Fixed word for the reason of a skipped call, of an answer not stored, or of a failure. */
  readonly reason?: string | undefined
  /** True if this call's answer was stored. */
  readonly stored?: boolean | undefined
  /** Age of the entry in milliseconds. */
  readonly ageMs?: number | undefined
  /** True if the entry is past its time to live and is refreshed in the background. */
  readonly stale?: boolean | undefined
  /** True if a concurrent call with the same key provided the answer. */
  readonly shared?: boolean | undefined
  /** Similarity to the question answered before, from 0 to 1, if the two differ. */
  readonly similarity?: number | undefined
  /** Usage that the answer cost when it was made. */
  readonly savedUsage?: Usage | undefined
  /** True in shadow mode: the cache was read but the call was made all the same. */
  readonly shadow?: true | undefined
  /** The failure. Passed to `onEvent` only. */
  readonly error?: unknown
}

/** Reports an outcome: without `error` as the run event `cache`, with it to `onEvent`. */
export type ReportCache = (
  run: RunContext,
  event: Omit<CacheEvent, 'middleware' | 'shadow'>,
) => void

/** Makes the function that reports outcomes. */
export function cacheReporter(options: {
  readonly middleware: string
  readonly isShadow: boolean
  readonly onEvent: ((event: CacheEvent) => void) | undefined
}): ReportCache {
  const { middleware, isShadow, onEvent } = options
  const emit = reporter<CacheEvent>('cache', undefined)
  return (run, { error, ...facts }) => {
    const event: CacheEvent = { middleware, ...facts, ...(isShadow && { shadow: true }) }
    emit(run, event)
    try {
      onEvent?.(error === undefined ? event : { ...event, error })
    } catch {
      // An observer cannot break what it observes.
    }
  }
}

import type { RunContext, Usage } from '@lamella/core'
import { reporter } from '@lamella/core/authoring'

/** What a cache did with one call. It holds nothing that users or models wrote. */
export interface CacheEvent {
  /** Of the layer. */
  readonly layer: string
  /**
   * `hit`: answered from the cache. `miss`: made, and kept if `stored`. `skipped`: made as if there
   * were no cache. `error`: the store, a codec or an option's function failed; the call goes on.
   */
  readonly outcome: 'hit' | 'miss' | 'skipped' | 'error'
  /** Of the entry in the store. */
  readonly key?: string | undefined
  /** Why it was skipped, not stored, or what failed: a fixed word. */
  readonly reason?: string | undefined
  readonly stored?: boolean | undefined
  readonly ageMs?: number | undefined
  /** The entry is past its time to live, and is made anew in the background. */
  readonly stale?: boolean | undefined
  /** Another call that was on its way gave the answer. */
  readonly shared?: boolean | undefined
  /** Of the question to the one that was answered, where the two are not the same. */
  readonly similarity?: number | undefined
  /** What the answer cost when it was made. */
  readonly savedUsage?: Usage | undefined
  /** The layer looked, and did not answer. */
  readonly shadow?: true | undefined
  /** Told to `onEvent` only. */
  readonly error?: unknown
}

/** Tells what a layer did: without `error` as an event `cache` of the run, with it to `onEvent`. */
export type ReportCache = (run: RunContext, event: Omit<CacheEvent, 'layer' | 'shadow'>) => void

export function cacheReporter(options: {
  readonly layer: string
  readonly isShadow: boolean
  readonly onEvent: ((event: CacheEvent) => void) | undefined
}): ReportCache {
  const { layer, isShadow, onEvent } = options
  const emit = reporter<CacheEvent>('cache', undefined)
  return (run, { error, ...facts }) => {
    const event: CacheEvent = { layer, ...facts, ...(isShadow && { shadow: true }) }
    emit(run, event)
    try {
      onEvent?.(error === undefined ? event : { ...event, error })
    } catch {
      // An observer cannot break what it observes.
    }
  }
}

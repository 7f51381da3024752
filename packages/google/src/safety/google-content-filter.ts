import { isObject } from '@lamella/core/authoring'

/** Severity of a category, from Google's severity or, without one, its probability. */
export type GoogleSeverity = 'safe' | 'low' | 'medium' | 'high'

/** Verdict of Google's filters on one category. */
export interface GoogleSafetyVerdict {
  /** True if the prompt or the answer was blocked because of it. */
  readonly filtered: boolean
  /** Severity, if Google rates the category. */
  readonly severity?: GoogleSeverity | undefined
  /** True if it was found, for categories without a rating, such as `blocklist`. */
  readonly detected?: boolean | undefined
}

/**
 * Verdicts by category: Google's harm categories in short, such as `hate_speech`, and reasons of a block
 * that are no rating, such as `prohibited_content`, `recitation`, `spii` or `blocklist`.
 */
export type GoogleSafetyResults = Readonly<Record<string, GoogleSafetyVerdict>>

/** Verdict of Google's safety filters on a call. */
export interface GoogleContentFilter {
  /** True if anything was blocked. */
  readonly filtered: boolean
  /** Verdict on the prompt. */
  readonly prompt?: GoogleSafetyResults | undefined
  /** Verdict on the answer. */
  readonly completion?: GoogleSafetyResults | undefined
}

/**
 * Returns the verdict in `metadata.contentFilter` of a response or in `details.contentFilter` of a
 * `ProviderError`; undefined if there is none.
 *
 * @example
 * ```ts
 * import { googleContentFilter } from '@lamella/google'
 *
 * const verdict = googleContentFilter({ metadata: { contentFilter: { filtered: false } } })
 * console.log(verdict?.filtered) // false
 * ```
 */
export function googleContentFilter(source: unknown): GoogleContentFilter | undefined {
  if (!isObject(source)) return undefined
  for (const place of [source['metadata'], source['details']]) {
    const verdict = isObject(place) ? place['contentFilter'] : undefined
    if (isObject(verdict) && typeof verdict['filtered'] === 'boolean') {
      return verdict as unknown as GoogleContentFilter
    }
  }
  return undefined
}

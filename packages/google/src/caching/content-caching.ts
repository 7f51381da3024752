import type { Message } from '@lamella/core'
import type { RequestSender, WireObject } from '@lamella/transport'
import type { ContentRules } from '../requests/contents.ts'
import type { CachedContentOptions } from '../requests/google-provider-options.ts'

/** A request that asks for a cached content. */
export interface CacheableRequest {
  /** The whole request. */
  readonly body: WireObject
  /** Its messages as the caller gave them. */
  readonly messages: readonly Message[]
  /** Its messages as they are sent. */
  readonly history: readonly Message[]
  readonly rules: ContentRules
  readonly options: CachedContentOptions
  readonly sender: RequestSender
  /** Path of the request. */
  readonly path: string
  readonly bodyTimeoutMs: number
}

/**
 * Decides how a request is sent that asks for a cached content. `cachedContents()` of
 * `@lamella/google/caching` makes one.
 */
export type ContentCaching = (
  request: CacheableRequest,
) => (signal: AbortSignal, send: (body: WireObject) => Promise<Response>) => Promise<Response>

/** One limit of a provider, by the headers of an answer. */
export interface RateLimitWindowInfo {
  readonly limit?: number | undefined
  readonly remaining?: number | undefined
  /** When all of it is there again, in milliseconds since 1970. */
  readonly resetAt?: number | undefined
}

/**
 * Limits of a provider. Clients put it into `metadata.rateLimit` of a response, and
 * into `details.rateLimit` of a `ProviderError`.
 */
export interface RateLimitInfo {
  readonly requests?: RateLimitWindowInfo | undefined
  readonly tokens?: RateLimitWindowInfo | undefined
  readonly inputTokens?: RateLimitWindowInfo | undefined
  readonly outputTokens?: RateLimitWindowInfo | undefined
}

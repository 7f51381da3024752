/** One limit of a provider, by the headers of an answer. */
export interface RateLimitWindowInfo {
  /** Size of the limit. */
  readonly limit?: number | undefined
  /** Number that is left. */
  readonly remaining?: number | undefined
  /** Moment when all of it is there again, in milliseconds since 1970. */
  readonly resetAt?: number | undefined
}

/**
 * Limits of a provider. Clients put it into `metadata.rateLimit` of a response, and
 * into `details.rateLimit` of a `ProviderError`.
 */
export interface RateLimitInfo {
  /** Requests. */
  readonly requests?: RateLimitWindowInfo | undefined
  /** Tokens of input and output together. */
  readonly tokens?: RateLimitWindowInfo | undefined
  /** Tokens of input. */
  readonly inputTokens?: RateLimitWindowInfo | undefined
  /** Tokens of output. */
  readonly outputTokens?: RateLimitWindowInfo | undefined
}

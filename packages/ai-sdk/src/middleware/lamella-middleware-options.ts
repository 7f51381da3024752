/** Options of `lamellaMiddleware`. */
export interface LamellaMiddlewareOptions {
  /**
   * Answers a blocked call with the block's message and the finish reason `content-filter`, or throws the
   * `GuardrailTripped`.
   * @default 'return'
   */
  readonly onBlock?: 'return' | 'throw' | undefined
  /**
   * Text of a blocked answer if the guardrail has none.
   * @default 'I cannot help with this request.'
   */
  readonly blockMessage?: string | undefined
  /**
   * Sends a streamed answer at once, or only when it is complete. A stream of the AI SDK cannot
   * discard text: a middleware that restarts or replaces an answer, such as `retry({ stream:
   * 'restart' })`, needs `'full'`. With `'passthrough'` the stream then ends with an error.
   * @default 'full' for a list with `schemaValidator()`, otherwise 'passthrough'
   */
  readonly release?: 'passthrough' | 'full' | undefined
  /**
   * Refuses middleware for tool calls, which the AI SDK makes out of reach of this one, or leaves it out.
   * @default 'refuse'
   */
  readonly toolMiddleware?: 'refuse' | 'ignore' | undefined
}

import { ProviderError } from '@lamella/core'

/**
 * Thrown when the messages that must be sent exceed the limit. It is a `ProviderError` of kind
 * `context_length`, so that a fallback to a model with a larger context handles it.
 */
export class ContextOverflowError extends ProviderError {
  /** Estimated tokens of the messages that must be sent. */
  readonly needed: number
  /** Maximum number of tokens. */
  readonly limit: number
  /** Tokens of the largest message that must stay. */
  readonly largest: number

  constructor(
    sizes: { readonly needed: number; readonly limit: number; readonly largest: number },
    options: Pick<ConstructorParameters<typeof ProviderError>[1], 'provider' | 'cause'>,
  ) {
    const { needed, limit, largest } = sizes
    const message = `what must be sent has ${needed} tokens, more than ${limit}; its largest message has ${largest}`
    super(message, { ...options, kind: 'context_length' })
    this.needed = needed
    this.limit = limit
    this.largest = largest
  }

  override get name(): string {
    return 'ContextOverflowError'
  }
}

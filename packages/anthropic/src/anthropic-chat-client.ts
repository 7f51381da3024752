import { AnthropicChatClient as FetchClient } from './fetch/anthropic-chat-client.ts'
import type { AnthropicChatClientOptions } from './sdk-options.ts'
import { sdkOptions } from './sdk-options.ts'

/**
 * Claude, through Anthropic's Messages API, on Anthropic's SDK.
 *
 * @example
 * ```ts
 * import { AnthropicChatClient } from '@lamella/anthropic'
 *
 * const client = new AnthropicChatClient({ apiKey: 'my-key', model: 'claude-sonnet-5-5' })
 * const answer = () => client.getResponse('Why is the sky blue?')
 * ```
 */
export class AnthropicChatClient extends FetchClient {
  /** @throws TypeError without a key, or for options that do not go together */
  constructor(options: AnthropicChatClientOptions = {}) {
    super(sdkOptions(options))
  }
}

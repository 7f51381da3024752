import { clientRules } from './connection/client-options.ts'
import { OpenAIChatClient as FetchClient } from './fetch/openai-chat-client.ts'
import type { OpenAIClientOptions } from './sdk-options.ts'
import { sdkOptions } from './sdk-options.ts'

/**
 * OpenAI's models through the Responses API, on OpenAI's SDK.
 *
 * @example
 * ```ts
 * import { OpenAIChatClient } from '@lamella/openai'
 *
 * const client = new OpenAIChatClient({ apiKey: 'my-key', model: 'gpt-5-mini' })
 * const answer = () => client.getResponse('Why is the sky blue?')
 * ```
 */
export class OpenAIChatClient extends FetchClient {
  /** @throws TypeError without a key for OpenAI, or for options that do not go together */
  constructor(options: OpenAIClientOptions = {}) {
    super(sdkOptions('OpenAIChatClient', options, clientRules))
  }
}

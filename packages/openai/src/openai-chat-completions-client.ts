import type { CompletionsOptions } from './connection/completions-options.ts'
import { completionsRules } from './connection/completions-options.ts'
import { OpenAIChatCompletionsClient as FetchClient } from './fetch/openai-chat-completions-client.ts'
import type { OpenAIClientOptions } from './sdk-options.ts'
import { sdkOptions } from './sdk-options.ts'

/** Options of `OpenAIChatCompletionsClient`. */
export type OpenAIChatCompletionsClientOptions = OpenAIClientOptions & CompletionsOptions

/**
 * Models through Chat Completions, on OpenAI's SDK: OpenAI's, and those of every compatible server by
 * `baseURL`.
 *
 * @example
 * ```ts
 * import { OpenAIChatCompletionsClient } from '@lamella/openai'
 *
 * const client = new OpenAIChatCompletionsClient({
 *   baseURL: 'http://localhost:11434/v1',
 *   dialect: 'ollama',
 *   model: 'llama3.2',
 * })
 * const answer = () => client.getResponse('Why is the sky blue?')
 * ```
 */
export class OpenAIChatCompletionsClient extends FetchClient {
  /** @throws TypeError without a key for OpenAI, or for options that do not go together */
  constructor(options: OpenAIChatCompletionsClientOptions = {}) {
    super(sdkOptions('OpenAIChatCompletionsClient', options, completionsRules))
  }
}

export { AnthropicChatClient } from './anthropic-chat-client.ts'
export type { AnthropicChatClientOptions } from './anthropic-connection.ts'
export type { AnthropicProviderOptions, CacheTime } from './anthropic-provider-options.ts'

export { OpenAIChatClient } from './fetch/openai-chat-client.ts'
export { OpenAIChatCompletionsClient } from './fetch/openai-chat-completions-client.ts'
export type { OpenAIChatCompletionsClientOptions } from './fetch/openai-chat-completions-client.ts'
export type {
  CallIdForm,
  ChatDialect,
  MaxTokensField,
  ThinkingPolicy,
  UsageFields,
} from './dialects/chat-dialect.ts'
export { chatDialects } from './dialects/chat-dialects.ts'
export type { ChatDialectName } from './dialects/chat-dialects.ts'
export type { OpenAIConnectionSettings } from './connection/client-options.ts'
export type { OpenAIClientOptions } from './connection/openai-connection.ts'
export type {
  BackgroundOptions,
  OpenAIProviderOptions,
} from './connection/openai-provider-options.ts'

export { OpenAIChatClient } from './openai-chat-client.ts'
export { OpenAIChatCompletionsClient } from './openai-chat-completions-client.ts'
export type { OpenAIChatCompletionsClientOptions } from './openai-chat-completions-client.ts'
export type {
  CallIdForm,
  ChatDialect,
  MaxTokensField,
  ThinkingPolicy,
  UsageFields,
} from './dialects/chat-dialect.ts'
export { chatDialects } from './dialects/chat-dialects.ts'
export type { ChatDialectName } from './dialects/chat-dialects.ts'
export { boundedFailures } from './connection/bounded-failures.ts'
export type { OpenAIConnectionSettings } from './connection/client-options.ts'
export { sdkSender } from './sdk-sender.ts'
export type { OpenAIClientOptions } from './sdk-options.ts'
export type {
  BackgroundOptions,
  OpenAIProviderOptions,
} from './connection/openai-provider-options.ts'

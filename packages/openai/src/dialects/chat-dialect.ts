import type { FinishReason, ProviderErrorKind } from '@lamella/core'

/** Field of a request that holds `maxOutputTokens`. */
export type MaxTokensField = 'auto' | 'max_completion_tokens' | 'max_tokens'

/**
 * Reasoning that is sent back to the server that made it: `'never'`; `'round'`, since the user's
 * last message; `'tool-turns'`, also in earlier turns with tool calls; `'always'`.
 */
export type ThinkingPolicy = 'never' | 'round' | 'tool-turns' | 'always'

/** Form of the ids of tool calls that a server accepts. */
export interface CallIdForm {
  /** Maximum number of characters. */
  readonly maxLength: number
  /** Ids must have exactly `maxLength` letters and digits. @default false */
  readonly isExact?: boolean | undefined
}

/** Counts of `Usage` and where a server reports them, as paths such as `'prompt_cache_hit_tokens'`. */
export interface UsageFields {
  /** Tokens of the input that were read from the cache. */
  readonly cachedInputTokens?: string | undefined
  /** Tokens of the output that are reasoning. */
  readonly reasoningTokens?: string | undefined
}

/**
 * Differences of a server with Chat Completions. `chatDialects` has a dialect for each known
 * server; for your own server, override fields of one of them.
 */
export interface ChatDialect {
  /** Name of the server: the origin of contents, and the key of its `providerOptions`. */
  readonly provider: string
  /** Hosts of a `baseURL` that select the dialect. A name includes its subdomains. */
  readonly hosts: readonly string[]
  /** Reasoning that is sent back. */
  readonly thinking: ThinkingPolicy
  /**
   * Field that every assistant message must have, empty if the model did not reason.
   * @default none
   */
  readonly requiredThinkingField?: string | undefined
  /** Form of the ids of tool calls. */
  readonly callIds: CallIdForm
  /** Field for `maxOutputTokens`. `'auto'` decides by the name of the model. */
  readonly maxTokensField: MaxTokensField
  /** True if the server reports usage of streams when requested by `stream_options`. */
  readonly streamUsage: boolean
  /** True if `response_format` may be `json_object`. Otherwise a schema for any object is sent. */
  readonly jsonObject: boolean
  /** Images in a user message: any, only those in the request, or none. */
  readonly images: 'any' | 'inline' | 'none'
  /** True if a message may have files such as PDFs. @default true */
  readonly files?: boolean | undefined
  /** True if a message may have sound. @default true */
  readonly audio?: boolean | undefined
  /** True if a message may name its author. @default true */
  readonly authorNames?: boolean | undefined
  /** Field for `seed`, or none if the server refuses it. @default 'seed' */
  readonly seedField?: 'seed' | 'random_seed' | 'none' | undefined
  /** True if the only system message is the first one: all others are joined with it. @default false */
  readonly oneSystemMessage?: boolean | undefined
  /** Signature for calls of other providers, if the server refuses a call without one. @default none */
  readonly foreignSignature?: string | undefined
  /** True if answers begin within the reasoning, with only the tag that ends it. @default false */
  readonly beginsInThinking?: boolean | undefined
  /** True if a refusal has its own field. Otherwise it is sent back as text. */
  readonly refusals: boolean
  /** True if a user message may follow tool results. Otherwise an assistant message is inserted. */
  readonly userAfterTools: boolean
  /** Names of tags at the beginning of the text that enclose the model's reasoning. */
  readonly thinkingTags: readonly string[]
  /** The server's own finish reasons. Those of OpenAI are always known. */
  readonly finishReasons: Readonly<Record<string, FinishReason>>
  /** Counts in the server's own fields. */
  readonly usage: UsageFields
  /** Kinds of failures by the server's own codes and types. Those of OpenAI are always known. */
  readonly errorCodes: Readonly<Record<string, ProviderErrorKind>>
}

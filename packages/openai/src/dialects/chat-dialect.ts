import type { FinishReason, ProviderErrorKind } from '@lamella/core'

/** Field of a request that holds `maxOutputTokens`. */
export type MaxTokensField = 'auto' | 'max_completion_tokens' | 'max_tokens'

/**
 * Which thinking of a model goes back to the server that made it:
 * `'never'`; `'round'`, that of the messages behind the last one of the user; `'tool-turns'`, also that
 * of earlier turns in which a tool was called; `'always'`.
 */
export type ThinkingPolicy = 'never' | 'round' | 'tool-turns' | 'always'

/** Form of the ids of tool calls that a server accepts. */
export interface CallIdForm {
  /** Most characters. */
  readonly maxLength: number
  /** Ids must have exactly `maxLength` letters and digits. @default false */
  readonly isExact?: boolean | undefined
}

/** Counts of `Usage` and where a server reports them, as paths such as `'prompt_cache_hit_tokens'`. */
export interface UsageFields {
  /** Tokens of the input that were read from the cache. */
  readonly cachedInputTokens?: string | undefined
  /** Tokens of the output that the model thought with. */
  readonly reasoningTokens?: string | undefined
}

/**
 * Habits of a server that speaks Chat Completions. `chatDialects` has one for each known server; lay
 * your own fields over one of them for a server of your own.
 */
export interface ChatDialect {
  /** Name of the server: the origin of contents, and the key of its `providerOptions`. */
  readonly provider: string
  /** Hosts of a `baseURL` that select the dialect. A name also stands for the hosts below it. */
  readonly hosts: readonly string[]
  /** Which thinking goes back. */
  readonly thinking: ThinkingPolicy
  /**
   * Field that every message of the assistant must have, empty where the model did not think.
   * @default none
   */
  readonly requiredThinkingField?: string | undefined
  /** Form of the ids of tool calls. */
  readonly callIds: CallIdForm
  /** Field for `maxOutputTokens`. `'auto'` decides by the name of the model. */
  readonly maxTokensField: MaxTokensField
  /** True where the server reports usage of streams when asked by `stream_options`. */
  readonly streamUsage: boolean
  /** True where `response_format` may be `json_object`. Elsewhere, a schema for any object is sent. */
  readonly jsonObject: boolean
  /** Images that a message of the user may show: any, only those in the request, or none. */
  readonly images: 'any' | 'inline' | 'none'
  /** True where a refusal has a field of its own. Elsewhere, it goes back as text. */
  readonly refusals: boolean
  /** True where a message of the user may follow tool results. Elsewhere, one of the assistant comes between. */
  readonly userAfterTools: boolean
  /** Names of tags at the beginning of the text that hold the model's thinking. */
  readonly thinkingTags: readonly string[]
  /** Finish reasons in the server's words. Those of OpenAI are known everywhere. */
  readonly finishReasons: Readonly<Record<string, FinishReason>>
  /** Counts that stand in fields of the server's own. */
  readonly usage: UsageFields
  /** Kinds of failures by the server's own codes and types. Those of OpenAI are known everywhere. */
  readonly errorCodes: Readonly<Record<string, ProviderErrorKind>>
}

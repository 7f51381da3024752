export type { GptEncodingName } from './gpt-encoding.ts'
export { maxTokens } from './max-tokens.ts'
export type { MaxTokensOptions, OnExceed, TokenEvent, TokenLimit } from './max-tokens-options.ts'
export type { CountMethod } from './token-counter.ts'

import type { OptionRules } from '@lamella/core/authoring'
import type { ChatDialect, MaxTokensField } from '../dialects/chat-dialect.ts'
import type { ChatDialectName } from '../dialects/chat-dialects.ts'
import { clientRules } from './client-options.ts'

/** Options of Chat Completions. */
export interface CompletionsOptions {
  /**
   * Differences of the server from OpenAI: the name of one of `chatDialects`, or your own dialect.
   * @default that of the host in `baseURL`, else `'compatible'`
   */
  readonly dialect?: ChatDialectName | ChatDialect | undefined
  /**
   * Field for `maxOutputTokens`. `'auto'` uses the new name for OpenAI's models and the old one for
   * all others.
   * @default that of the dialect
   */
  readonly maxTokensField?: MaxTokensField | undefined
  /** Requests usage at the end of a stream. @default that of the dialect */
  readonly streamUsage?: boolean | undefined
}

// Called, since bundlers keep an object that spreads another one, even if nothing uses it.
export const completionsRules: OptionRules<CompletionsOptions> & typeof clientRules =
  /* @__PURE__ */ (() => ({
    ...clientRules,
    dialect: 'any',
    maxTokensField: 'any',
    streamUsage: 'any',
  }))()
